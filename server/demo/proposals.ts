import { foldForOrder } from '../entities/fold.ts';
import type { ProposalStatus } from '../../contract/proposals.ts';
import type { Proposal, StoredPerson } from '../entities/proposal.ts';
import { uuidv7 } from '../entities/uuid.ts';
import { proposalTotals } from '../records/money.ts';
import { countryOf } from './countries.ts';
import type { DemoCustomer } from './customers.ts';
import type { Dice } from './dice.ts';
import { historyOf, plan } from './history.ts';
import type { DemoItem } from './items.ts';
import { makeLines } from './lines.ts';
import { morning, timestamp } from './past.ts';
import { projectOf, smallProjects } from './projects.ts';
import type { Project } from './projects.ts';
import { declineReasons, optionalLinesNote, proposalNotes, proposalTerms } from './wording.ts';

type Stock = { customers: readonly DemoCustomer[]; items: readonly DemoItem[]; owners: readonly StoredPerson[] };
type Slot = { status: ProposalStatus; ageDays: number; createdMs: number; number: string };

/** The proposals, oldest first, each with its lines. */
export function makeProposals(stock: Stock, nowMs: number, dice: Dice) {
  const titles = new Set<string>();
  return slots(nowMs, dice).map((slot) => makeProposal(slot, stock, titles, dice));
}

/** Which proposals there are to be, numbered as they were made. */
function slots(nowMs: number, dice: Dice): Slot[] {
  const drawn = plan.flatMap(({ status, count, youngestDays, oldestDays }) =>
    Array.from({ length: count }, () => {
      const ageDays = dice.between(youngestDays, oldestDays);
      return { status, ageDays, createdMs: morning(nowMs, ageDays, dice) };
    }),
  );
  return drawn
    .toSorted((a, b) => a.createdMs - b.createdMs)
    .map((slot, index) => ({ ...slot, number: `P-${1_001 + index}` }));
}

function makeProposal(
  { status, ageDays, createdMs, number }: Slot,
  { customers, items, owners }: Stock,
  titles: Set<string>,
  dice: Dice,
) {
  const customer = chooseCustomer(customers, ageDays, dice);
  const { country, kind } = customer;
  const terms = countryOf(country);
  const project = dice.chance(10) ? dice.pick(smallProjects) : projectOf(kind);
  // A draft is sometimes begun before it is clear for whom.
  const given = status === 'draft' && dice.chance(25) ? null : customer.record;
  const { title, lead } = chooseTitle(project, given, titles, dice);
  const lines = makeLines({ lead, project, country, terms, status, ageDays }, items, dice);
  const history = historyOf(status, createdMs, dice);
  const id = uuidv7();
  const record = {
    id,
    number,
    title,
    status,
    customerId: given?.id ?? null,
    customerKey: given ? foldForOrder(given.name) : null,
    currency: terms.currency,
    ...proposalTotals(lines, terms.currency),
    lineItemCount: lines.length,
    notes: dice.chance(60) ? note(lines, dice) : null,
    terms: dice.chance(status === 'draft' ? 30 : 85) ? dice.pick(proposalTerms) : null,
    ...history,
    acceptedBy: status === 'accepted' ? signatory(customer, dice) : null,
    declineReason: status === 'declined' && dice.chance(80) ? dice.pick(declineReasons) : null,
    publicUrl: history.sentAt && `https://proposals.larkmoor.example/p/${dice.token(16)}`,
    owner: dice.chance(92) ? dice.pick(owners) : null,
    externalId: dice.chance(40) ? `job-${dice.digits('####')}-${number.slice(2)}` : null,
    metadata: dice.chance(30) ? metadata(kind, dice) : {},
    createdAt: timestamp(createdMs),
  } satisfies Partial<Proposal>;
  return { record, lines: lines.map((line) => ({ ...line, proposalId: id })) };
}

/** Someone who was a customer by then; a repeat customer comes twice as often. */
function chooseCustomer(customers: readonly DemoCustomer[], ageDays: number, dice: Dice): DemoCustomer {
  const known = customers.filter(
    (customer) => customer.ageDays > ageDays && (customer.record.status === 'active' || ageDays > 320),
  );
  return dice.pick(
    known.flatMap((customer) => (customer.record.tags.includes('repeat') ? [customer, customer] : [customer])),
  );
}

/** A customer gets a title once, if there are others; a title that somebody had says where it is for, too. */
function chooseTitle({ titles }: Project, customer: DemoCustomer['record'] | null, taken: Set<string>, dice: Dice) {
  const own = (title: string) => `${title} for ${customer?.id ?? 'nobody'}`;
  const all = Object.entries(titles);
  const unused = all.filter(([title]) => !taken.has(own(title)));
  const [title, lead] = dice.pick(unused.length > 0 ? unused : all);
  const city = customer?.address?.city ?? '';
  const revised = unused.length > 0 ? '' : ', revised';
  const place = taken.has(title) && /^\p{Script=Latin}/u.test(city) ? `, ${city}` : '';
  taken.add(title).add(own(title));
  return { title: `${title}${place}${revised}`, lead };
}

function note(lines: readonly { optional: boolean }[], dice: Dice): string {
  return lines.some(({ optional }) => optional) && dice.chance(70) ? optionalLinesNote : dice.pick(proposalNotes);
}

function signatory({ record, contact }: DemoCustomer, dice: Dice): StoredPerson {
  return { name: contact ?? record.name, email: dice.chance(85) ? record.email : null };
}

function metadata(kind: string, dice: Dice): Record<string, string> {
  return { site: kind, priority: dice.pick(['normal', 'high']) };
}
