/** Organizations full of records, for measuring: built as an import builds them, and copied straight into the tables. */
import { randomBytes } from 'node:crypto';
import { addMember } from '../../server/accounts/members.ts';
import { createOrganization } from '../../server/accounts/organizations.ts';
import type { Database } from '../../server/database/orm.ts';
import { withSession } from '../../server/database/session.ts';
import type { Session } from '../../server/database/session.ts';
import { Customer } from '../../server/entities/customer.ts';
import { Item } from '../../server/entities/item.ts';
import { Proposal, ProposalLine } from '../../server/entities/proposal.ts';
import { uuidv7 } from '../../server/entities/uuid.ts';
import { hashKey } from '../../server/keys/authenticate.ts';
import { lineTotals, proposalTotals } from '../../server/records/money.ts';
import { recordTable } from '../../server/records/record-table.ts';
import type { RecordTable, Values } from '../../server/records/record-table.ts';

/** The number of records and keys in an organization, and of lines in each proposal. */
export type Size = { customers: number; proposals: number; lines: number; items: number; keys: number };

/** An organization with the stored ids of its records, and its keys. */
export type Filled = { id: string; keys: string[] } & Record<'customers' | 'proposals' | 'items', string[]>;

const firstNames = ['Ann', 'Jürgen', 'María', 'Piotr', 'Chloé', 'Søren', 'Aisha', 'Ken', 'Lucía', 'Tom', 'Ines', 'Raj'];
const syllables = ['ber', 'mann', 'wick', 'los', 'tar', 'quin', 'field', 'dor', 'ran', 'stein', 'pol', 'vik', 'hal'];
const cities = ['Berlin', 'Lyon', 'Porto', 'Gdańsk', 'Austin', 'Leeds', 'Osaka', 'Québec', 'Graz', 'Bergen'];
const at = (start: number, index: number) => new Date(start + index * 1000).toISOString();
const startMs = Date.UTC(2024, 0, 1);

/** One customer in ten has this last name. */
export const commonName = 'Abendroth';
/** On ten customers, no matter how many there are. */
export const rare = { tag: 'rare', metadata: ['rare', 'yes'], word: 'Zyxomatic' } as const;
const rareOnes = 10;

/** Numbers that look random and are the same in each run. */
const scattered = (index: number, below: number) => (Math.imul(index + 1, 2_654_435_761) % below) >>> 0;
const pick = <T>(from: readonly T[], index: number): T => from[index % from.length] as T;
const lastName = (index: number) =>
  index % 10 === 0
    ? commonName
    : [7, 31, 101].map((factor) => pick(syllables, scattered(index * factor, 1_000_003))).join('');

export function customer(index: number, count: number): Values & { name: string; email: string } {
  const [first, last] = [pick(firstNames, index), lastName(index)];
  const isRare = index % Math.ceil(count / rareOnes) === 5;
  const name = `${first} ${last.charAt(0).toUpperCase()}${last.slice(1)}`;
  return {
    type: 'company',
    name: isRare ? `${name} ${rare.word}` : name,
    companyName: `${last} & Daughters ${index}`,
    email: `${first.normalize('NFKD').replaceAll(/[^A-Za-z]/g, '')}.${last}.${index}@mail.example`,
    phone: `+49 30 ${10_000_000 + index}`,
    address: {
      line1: `Lange Straße ${index % 400}`,
      line2: null,
      city: pick(cities, scattered(index, 997)),
      region: null,
      postalCode: String(10_000 + (index % 80_000)),
      country: 'DE',
    },
    tags: ['wholesale', `region-${index % 7}`, ...(isRare ? [rare.tag] : [])],
    externalId: `crm-${index}`,
    metadata: { source: 'crm', segment: `s${index % 20}`, ...(isRare && { [rare.metadata[0]]: rare.metadata[1] }) },
    createdAt: at(startMs, index),
    updatedAt: at(startMs, index),
  };
}

const item = (index: number): Values => ({
  type: index % 3 === 0 ? 'product' : 'service',
  name: `${pick(syllables, index)} ${pick(syllables, index >> 2)} No. ${index}`,
  description: 'Painted fronts, soft-close drawers, delivery included.',
  sku: `SKU-${index}`,
  unitPrice: `${10 + (index % 900)}.50`,
  currency: 'EUR',
  unit: 'each',
  taxRate: '19',
  category: `category ${index % 12}`,
  externalId: `item-${index}`,
  createdAt: at(startMs, index),
  updatedAt: at(startMs, index),
});

const lineAmounts = { quantity: '3', unitPrice: '12.5', discountAmount: '1', taxRate: '19' };
const totals = lineTotals(lineAmounts, 'EUR');

const positions = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

function linesOf(proposalId: string, count: number): Values[] {
  return positions(count).map((position) => ({
    proposalId,
    position,
    type: 'service',
    name: `Work ${position}`,
    sku: `W-${position}`,
    unit: 'hour',
    ...lineAmounts,
    ...totals,
  }));
}

function proposal(index: number, { id: customerId, nameSearch }: Values, lineCount: number): Values {
  const time = at(startMs, index);
  return {
    number: `P-${index}`,
    title: `${pick(cities, index)} ${pick(syllables, index)} extension`,
    status: 'sent',
    statusChangedAt: time,
    sentAt: time,
    customerId,
    customerKey: nameSearch,
    currency: 'EUR',
    lineItemCount: lineCount,
    ...proposalTotals(
      positions(lineCount).map(() => ({ ...totals, selected: true })),
      'EUR',
    ),
    notes: 'Samples of the oak and both fabrics are on their way to you.',
    metadata: { source: 'crm' },
    createdAt: time,
    updatedAt: time,
  };
}

/** Fills a new organization on the Team plan. */
export async function fillOrganization(database: Database, slug: string, size: Size): Promise<Filled> {
  const fields = { name: slug, slug, plan: 'team', currency: 'EUR' } as const;
  const organization = await createOrganization(database, fields);
  const { id: organizationId } = organization;
  const filled: Filled = { id: organizationId, keys: [], customers: [], proposals: [], items: [] };
  const email = `ann@${slug}.example`;
  const admin = await addMember(database, organization, { email, name: 'Ann', role: 'admin' });
  filled.keys = Array.from({ length: size.keys }, () => `ak_live_${randomBytes(32).toString('hex')}`);
  await database.pool.query(
    `insert into api_keys (organization_id, id, name, prefix, last_four, hash, created_by)
     select $1, gen_random_uuid(), 'bench', 'ak_live_', '0000', unnest($2::text[]), $3`,
    [organizationId, filled.keys.map(hashKey), admin.id],
  );
  const whole = (of: RecordTable, values: Values) => of.created({ organizationId, id: uuidv7(), ...values });
  await withSession(database.pool, organizationId, async (session) => {
    const [customers, items] = [recordTable(Customer, () => database.orm), recordTable(Item, () => database.orm)];
    const proposals = recordTable(Proposal, () => database.orm);
    const proposalLines = recordTable(ProposalLine, () => database.orm);
    const named: Values[] = [];
    await copy(session, customers, size.customers, (index) => {
      const record = whole(customers, customer(index, size.customers));
      filled.customers.push(String(record.id));
      if (named.length < size.proposals) named.push({ id: record.id, nameSearch: record.nameSearch });
      return [record];
    });
    await copy(session, items, size.items, (index) => {
      const record = whole(items, item(index));
      filled.items.push(String(record.id));
      return [record];
    });
    await copy(session, proposals, size.proposals, (index) => {
      const record = whole(proposals, proposal(index, pick(named, index), size.lines));
      filled.proposals.push(String(record.id));
      return [record];
    });
    await copy(session, proposalLines, size.proposals, (index) =>
      linesOf(filled.proposals[index] ?? '', size.lines).map((line) => whole(proposalLines, line)),
    );
  });
  return filled;
}

function copy(session: Session, table: RecordTable, count: number, recordsAt: (index: number) => Values[]) {
  const columns = table.columns.map(({ name }) => name).join(', ');
  function* textLines(): Generator<string> {
    for (let index = 0; index < count; index += 1) for (const record of recordsAt(index)) yield table.line(record);
  }
  return session.copy(`copy ${table.name} (${columns}) from stdin`, textLines());
}

const tables = ['customers', 'items', 'proposals', 'proposal_lines'];

/** Builds the indexes after loading the rows, which takes a fraction of the time. */
export async function withoutIndexes<T>(database: Database, fill: () => Promise<T>): Promise<T> {
  const { rows } = await database.pool.query<{ indexname: string; indexdef: string }>(
    `select indexname, indexdef from pg_indexes where schemaname = current_schema() and tablename = any($1)
       and indexname not in (select conname from pg_constraint)`,
    [tables],
  );
  for (const { indexname } of rows) await database.pool.query(`drop index ${indexname}`);
  const filled = await fill();
  const client = await database.pool.connect();
  try {
    await client.query(`set statement_timeout = 0; set maintenance_work_mem = '256MB'`);
    for (const { indexdef } of rows) await client.query(indexdef);
    for (const table of tables) await client.query(`vacuum analyze ${table}`);
    return filled;
  } finally {
    client.release(true);
  }
}
