import type { Customer, StoredAddress } from '../entities/customer.ts';
import { displayName, wholeAddress as storedAddress } from '../records/customer.ts';
import { uuidv7 } from '../entities/uuid.ts';
import { countryOf } from './countries.ts';
import { customerTable } from './customer-table.ts';
import type { Dice } from './dice.ts';
import { lastChange, later, morning, timestamp } from './past.ts';
import { cell } from './table.ts';
import { customerNotes, sources } from './wording.ts';

type Row = (typeof customerTable)[number];
export type DemoCustomer = ReturnType<typeof makeCustomer>;

export function makeCustomers(nowMs: number, dice: Dice) {
  return customerTable.map((row, index) => makeCustomer(row, index, nowMs, dice));
}

/** What is stored, and beside it what the proposals need to know: `contact` is who speaks for a company. */
function makeCustomer(row: Row, index: number, nowMs: number, dice: Dice) {
  const { firstName, lastName, companyName, email, phone } = row;
  const tags = cell(row, 'tags').split(', ');
  const country = cell(row, 'country');
  const archived = index % 13 === 6;
  // Whoever is archived has not asked for anything in a while.
  const ageDays = archived ? dice.between(430, 640) : dice.between(12, 620);
  const createdMs = morning(nowMs, ageDays, dice);
  const company = companyName !== null;
  const contact = personName(row, country);
  const record = {
    id: uuidv7(),
    type: company ? ('company' as const) : ('person' as const),
    name: companyName ?? contact ?? displayName(row),
    firstName,
    lastName,
    companyName,
    email,
    phone,
    address: storedAddress({ ...addressOf(row), country }),
    shippingAddress: dice.chance(18) ? shippingAddress(row) : null,
    taxId: company && dice.chance(70) ? dice.digits(countryOf(country).taxId) : null,
    website: company && dice.chance(75) ? `https://www.${email?.split('@')[1]}` : null,
    notes: dice.chance(35) ? dice.pick(customerNotes) : null,
    tags,
    externalId: dice.chance(45) ? `crm-${20_400 + index * 7}` : null,
    metadata: dice.chance(50) ? metadata(dice) : {},
    status: archived ? ('archived' as const) : ('active' as const),
    createdAt: timestamp(createdMs),
    updatedAt: timestamp(archived ? later(createdMs, 300, dice) : lastChange(createdMs, nowMs, dice)),
  } satisfies Partial<Customer>;
  return { record, ageDays, country, contact, kind: tags[0] ?? '' };
}

/** A name as it is said in that country; null where there is none. */
function personName({ firstName, lastName }: Row, country: string): string | null {
  if (!firstName || !lastName) return null;
  return countryOf(country).familyNameFirst ? `${lastName} ${firstName}` : `${firstName} ${lastName}`;
}

const addressOf = ({ line1, line2, city, region, postalCode }: Row) => ({ line1, line2, city, region, postalCode });

/** Goods go to a door of their own in the same town. */
function shippingAddress(row: Row): StoredAddress | null {
  const { city, region, postalCode, country } = row;
  return storedAddress({
    line1: row.line1,
    line2: country === 'JP' ? '搬入口' : 'Loading door, rear',
    city,
    region,
    postalCode,
    country,
  });
}

function metadata(dice: Dice): Record<string, string> {
  const source = dice.pick(sources);
  return dice.chance(40)
    ? { source, 'crm.owner': dice.pick(['mara', 'tomas']), visits: String(dice.between(1, 9)) }
    : { source };
}
