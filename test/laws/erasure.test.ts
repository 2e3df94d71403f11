/**
 * An erasure reaches every column: each column of the tables that may contain personal data is filled with everything that
 * identifies the customer, or listed here as kept.
 */
import { expect, test } from 'vitest';
import { entities } from '../../server/database/entities.ts';
import { forOrganization } from '../../server/database/tenant.ts';
import { uuidv7 } from '../../server/entities/uuid.ts';
import { writeEvent } from '../../server/records/audit-log.ts';
import { eraseCustomer } from '../../server/records/erase-customer.ts';
import { storedId } from '../../server/records/public-id.ts';
import { importInto } from '../import/importing.ts';
import { useWorld } from '../world.ts';

// In its own database, so no other test's rows are searched.
const world = useWorld({ ownDatabase: true });

/** Values that occur nowhere else in the database. */
const person = {
  name: 'Quaxname',
  firstName: 'Quaxfirst',
  lastName: 'Quaxlast',
  // Begins with another value.
  companyName: 'Quaxname & Quaxsons',
  email: 'quaxmail@example.com',
  phone: '+49 30 998877665',
  taxId: 'QUAXTAX-1',
  website: 'https://quaxsite.example/',
  externalId: 'quax-crm-1',
  address: { line1: 'Quaxstreet 17', line2: 'Quaxyard' },
  shippingAddress: { line1: 'Quaxroad 3', line2: 'Quaxdoor' },
};
const { address, shippingAddress, firstName, lastName, ...single } = person;
const texts = [
  ...Object.values(single),
  ...Object.values(address),
  ...Object.values(shippingAddress),
  `${firstName} ${lastName}`,
  `${lastName}, ${firstName}`,
];
const text = texts.join(' | ');

type Filled = Record<string, unknown>;
const upload = { kind: 'customers', state: 'checked', file_name: 'c.csv', mapping: {}, rows: [] };

/** Table → the columns that are filled, and text and JSON columns that are not: the organization's, or not free text. */
const tables: Record<string, { filled: Filled; kept: string[] }> = {
  proposals: {
    filled: {
      title: text,
      notes: `${text} | ${firstName} | ${lastName}`,
      terms: text,
      decline_reason: text,
      public_url: `https://example.com/${person.email}`,
      accepted_by: { name: text, email: person.email },
      metadata: { contact: text },
    },
    // The last two are derived from the customer's name and the proposal's title.
    kept: ['currency', 'external_id', 'number', 'owner', 'status', 'customer_key', 'search'],
  },
  proposal_lines: { filled: { name: text, description: text, sku: text, unit: text }, kept: ['type'] },
  audit_events: { filled: { detail: text, previous: text }, kept: ['action', 'ip_address', 'kind', 'reason'] },
  idempotency_keys: { filled: { key: text }, kept: ['body', 'fingerprint', 'location', 'operation'] },
  uploads: {
    filled: {
      file_name: `${text} | ${firstName} | ${lastName}.csv`,
      mapping: { map: { [text]: 'name' } },
      inspection: { columns: [{ name: text, samples: [text] }] },
      rows: [{ values: [text] }],
      summary: { created: 1, notes: [text], errors: [{ line: 2, message: text }] },
      failure: text,
    },
    kept: ['kind', 'records', 'state'],
  },
  import_mappings: {
    filled: { choices: { map: { [text]: 'name', Mail: 'email' }, columns: [text, 'Mail'] } },
    kept: ['kind'],
  },
  webhook_deliveries: { filled: { request: text, response: text }, kept: ['error', 'state', 'type'] },
};

/** Tables that no text about a customer gets into. */
const ofOthers = [
  'customers', // erased as a whole: see the test below
  'organizations',
  'members',
  'api_keys',
  'items', // shared by all customers
  'erased_external_ids', // keyed hashes
  'usage_counts', // operations and statuses
  'failed_requests', // the same
  'key_warnings', // kinds of warnings
  'webhook_endpoints', // the organization's own
  'webhook_imports', // counts
];

async function traces(): Promise<string[]> {
  const { pool } = world.database;
  const { rows } = await pool.query<{ schema: string; name: string; column: string }>(
    `select c.table_schema as schema, c.table_name as name, c.column_name as column from information_schema.columns c
     join information_schema.tables t using (table_schema, table_name)
     where t.table_type = 'BASE TABLE' and c.table_schema not in ('pg_catalog', 'information_schema')`,
  );
  const found: string[] = [];
  for (const { schema, name, column } of rows) {
    const statement = `select from "${schema}"."${name}" where "${column}"::text ~* 'quax|998877665|566778899' limit 1`;
    if ((await pool.query(statement)).rowCount) found.push(`${name}.${column}`);
  }
  return found.toSorted();
}

test('all text and JSON columns are listed, except those of tables that no text about a customer gets into', async () => {
  const { rows } = await world.database.pool.query<{ name: string; column: string }>(
    `select table_name as name, column_name as column from information_schema.columns
     where table_schema = 'public' and table_name = any($1) and not table_name = any($2) and data_type in ('text', 'jsonb')`,
    [entities.map(({ meta }) => meta.tableName), ofOthers],
  );
  const named = Object.entries(tables).flatMap(([name, { filled, kept }]) =>
    [...Object.keys(filled), ...kept].map((column) => `${name}.${column}`),
  );
  expect(rows.map(({ name, column }) => `${name}.${column}`).toSorted()).toEqual(named.toSorted());
});

test('an erasure leaves nothing in any column', async () => {
  const tenant = await world.organization();
  const { pool } = world.database;
  const organizationId = tenant.organization.id;
  const { body } = await tenant.call('POST', '/v1/customers', person, { 'idempotency-key': 'order-1' });
  const customerId = storedId('customer', body.id) ?? '';
  const line = { type: 'service', name: 'Work', quantity: 1, unitPrice: 1 };
  const proposal = { externalId: 'P-1', number: 'N-1', title: 'T', status: 'draft', lineItems: [line] };
  await importInto(world, tenant).rows('proposals', { ...proposal, customerExternalId: person.externalId });
  const { rows: proposals } = await pool.query<{ id: string }>('select id from proposals');
  const delivery = { endpoint_id: uuidv7(), type: 'x', state: 'delivered' };
  const times = { happened_at: new Date(), found_at: new Date(), due_at: new Date() };
  const rows: [table: string, row: Filled][] = [
    ['uploads', { ...upload, member_id: tenant.admin.id }],
    ['import_mappings', { kind: 'customers', choices: {} }],
    // One about the customer, and one about its proposal.
    ['webhook_deliveries', { ...delivery, ...times, record_id: customerId }],
    ['webhook_deliveries', { ...delivery, ...times, record_id: proposals[0]?.id }],
  ];
  const json = (value: unknown) =>
    typeof value === 'object' && !(value instanceof Date) ? JSON.stringify(value) : value;
  for (const [name, row] of rows) {
    const all = { organization_id: organizationId, id: uuidv7(), ...row };
    const places = Object.keys(all).map((_, index) => `$${index + 1}`);
    const statement = `insert into ${name} (${Object.keys(all).join(', ')}) values (${places.join(', ')})`;
    await pool.query(statement, Object.values(all).map(json));
  }
  const filled = Object.entries(tables).flatMap(([name, table]) =>
    Object.keys(table.filled).map((column) => `${name}.${column}`),
  );
  for (const [name, table] of Object.entries(tables)) {
    const changes = Object.keys(table.filled).map((column, index) => `${column} = $${index + 2}`);
    const { rowCount } = await pool.query(`update ${name} set ${changes.join(', ')} where organization_id = $1`, [
      organizationId,
      ...Object.values(table.filled).map(json),
    ]);
    expect([name, Number(rowCount) > 0]).toEqual([name, true]);
  }
  await writeEvent(tenant.em(), { action: 'records_imported', memberId: null, detail: `${lastName}.csv` });
  expect(await traces()).toEqual(expect.arrayContaining([...filled, 'customers.tax_id', 'idempotency_keys.body']));
  expect(await eraseCustomer(forOrganization(world.database, organizationId), customerId, null)).toBe(true);
  expect(await traces()).toEqual([]);
});
