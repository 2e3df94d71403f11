/** The lines of the demo's proposals: from the catalog, work that stands in no catalog, and credits. */
import type { ProposalStatus } from '../../contract/proposals.ts';
import type { ProposalLine } from '../entities/proposal.ts';
import { lineTotals } from '../records/money.ts';
import type { Country } from './countries.ts';
import type { Dice } from './dice.ts';
import type { DemoItem } from './items.ts';
import { percentOf, priceIn } from './prices.ts';
import type { Project } from './projects.ts';
import { credits, extraWork } from './wording.ts';

type Offer = {
  lead: string;
  project: Project;
  country: string;
  terms: Country;
  status: ProposalStatus;
  ageDays: number;
};
type Inputs = Pick<
  ProposalLine,
  'itemId' | 'type' | 'name' | 'description' | 'sku' | 'quantity' | 'unit' | 'unitPrice' | 'taxRate'
>;

/** One to eight lines; the first item of the title's own is always there. */
export function makeLines(offer: Offer, items: readonly DemoItem[], dice: Dice) {
  const { terms, country, status, lead } = offer;
  const wanted = dice.between(1, 8);
  const credit = wanted > 3 && dice.chance(16);
  const extras = wanted > 2 ? dice.between(0, 2) : 0;
  const fromCatalog = chooseItems(offer, items, wanted - extras - Number(credit), dice).map((item) => {
    const line = costed(catalogLine(item, country, terms, dice), terms, dice.chance(22) ? dice.pick([5, 10, 15]) : 0);
    return { ...line, ...choice(item.sku !== lead && dice.chance(20), status, dice) };
  });
  const free = dice.some(extraWork, extras).map((work) => costed(extraLine(work, country, terms), terms, 0));
  const taken = credit ? [costed(creditLine(dice.pick(credits), terms), terms, 0)] : [];
  const firm = [...free, ...taken].map((line) => ({ ...line, optional: false, selected: true }));
  return [...fromCatalog, ...firm].map((line, index) => ({ ...line, position: index + 1 }));
}

/** In the catalog's order, which is that of the work. */
function chooseItems(
  { lead, project, terms, ageDays }: Offer,
  items: readonly DemoItem[],
  count: number,
  dice: Dice,
): DemoItem[] {
  const local = (sku: string) =>
    items.some((item) => item.currency === terms.currency && item.sku.startsWith(`${sku}-`));
  const others = items.filter(
    ({ sku, currency, status }) =>
      sku !== lead &&
      project.skus.includes(sku) &&
      // What is priced in another currency belongs to another market, and what is archived was offered once.
      (currency === 'USD' || currency === terms.currency) &&
      !local(sku) &&
      (status === 'active' || ageDays > 300),
  );
  const chosen = new Set([lead, ...dice.some(others, count - 1).map(({ sku }) => sku)]);
  return items.filter(({ sku }) => chosen.has(sku));
}

function costed(line: Inputs, { currency }: Country, discountPercent: number) {
  const { subtotal } = lineTotals({ ...line, discountAmount: '0' }, currency);
  const discountAmount = percentOf(subtotal, discountPercent);
  return { ...line, ...lineTotals({ ...line, discountAmount }, currency) };
}

/** The customer chooses; while nobody has, it is left out. */
function choice(optional: boolean, status: ProposalStatus, dice: Dice): Pick<ProposalLine, 'optional' | 'selected'> {
  return { optional, selected: !optional || dice.chance(status === 'accepted' ? 50 : 20) };
}

function catalogLine(item: DemoItem, country: string, terms: Country, dice: Dice): Inputs {
  const { id, type, name, description, sku, unit, taxable } = item;
  return {
    itemId: id,
    type,
    name,
    description: dice.chance(65) ? description : null,
    sku,
    quantity: quantity(item, dice),
    unit,
    unitPrice: item.currency === terms.currency ? item.unitPrice : priceIn(terms.currency, item.unitPrice),
    taxRate: taxOn(taxable, country, terms),
  };
}

/** In the United States services are not taxed; elsewhere everything is. */
function taxOn(taxable: boolean, country: string, { taxRate }: Country): string | null {
  return taxable || country !== 'US' ? taxRate : null;
}

const quantities: Readonly<Record<string, (dice: Dice) => string>> = {
  hour: (dice) => String(dice.between(8, 70) / 2),
  day: (dice) => String(dice.between(2, 12) / 2),
  'sq ft': (dice) => String(dice.between(12, 90) * 10),
  'linear ft': (dice) => String(dice.between(24, 120) / 4),
  ft: (dice) => String(dice.between(10, 80)),
  'm²': (dice) => String(dice.between(40, 180) / 4),
  month: () => '12',
  visit: (dice) => String(dice.between(1, 4)),
  panel: (dice) => String(dice.between(1, 5) * 2),
  roll: (dice) => String(dice.between(4, 14)),
  view: (dice) => String(dice.between(1, 3)),
  survey: () => '1',
  package: () => '1',
  delivery: () => '1',
};

/** Of what is dear, a few. */
function quantity({ unit, unitPrice, currency }: DemoItem, dice: Dice): string {
  const known = quantities[unit ?? ''];
  if (known) return known(dice);
  const dear = Number(unitPrice) > (currency === 'JPY' ? 150_000 : 1_000);
  return String(dice.between(1, dear ? 2 : 12));
}

function extraLine(work: (typeof extraWork)[number], country: string, terms: Country): Inputs {
  const unitPrice = priceIn(terms.currency, work.unitPrice);
  return {
    ...work,
    itemId: null,
    type: 'service',
    description: null,
    sku: null,
    unitPrice,
    taxRate: taxOn(false, country, terms),
  };
}

function creditLine({ name, unitPrice }: (typeof credits)[number], { currency }: Country): Inputs {
  const price = priceIn(currency, unitPrice);
  return {
    itemId: null,
    type: 'service',
    name,
    description: null,
    sku: null,
    quantity: '1',
    unit: null,
    unitPrice: price,
    taxRate: null,
  };
}
