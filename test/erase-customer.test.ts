import { describe, expect, inject, test } from 'vitest';
import { createOrganization } from '../server/accounts/organizations.ts';
import { migrate } from '../server/database/migrate.ts';
import { openDatabase } from '../server/database/orm.ts';
import type { Database } from '../server/database/orm.ts';
import { forOrganization } from '../server/database/tenant.ts';
import { Customer } from '../server/entities/customer.ts';
import { importFile } from '../server/import/import-file.ts';
import { eraseCustomer } from '../server/records/erase-customer.ts';
import { releaseExternalId } from '../server/records/erased-external-ids.ts';
import { readEvents, writeEvent } from '../server/records/audit-log.ts';
import { Redaction } from '../server/records/redaction.ts';
import { storedId } from '../server/records/public-id.ts';
import { runCommand } from './command.ts';
import { ownDatabase } from './database.ts';
import { fetchRecord, importInto, withFile } from './import/importing.ts';
import { useWorld } from './world.ts';
import type { Tenant } from './world.ts';
import { waitingStatements } from './locks.ts';
import { patientConnection } from './patient.ts';
import { statementsDuring } from './statements.ts';

/** Values that occur nowhere else in the database. */
const person = {
  type: 'person',
  name: 'Zéphyrine Quaxlebrück',
  firstName: 'Zéphyrine',
  lastName: 'Quaxlebrück',
  companyName: 'Quaxlebrück Gewürze',
  email: 'Zeph@quaxlebruck.example',
  phone: '+49 30 998877665',
  address: { line1: 'Quaxgasse 17', city: 'Quaxhausen', postalCode: 'QX-4711', country: 'DE' },
  shippingAddress: { line1: 'Quaxhof 3', line2: 'Quax Hinterhaus' },
  taxId: 'DE-QX-123456',
  website: 'https://quaxlebruck.example',
  notes: 'Quaxnotiz',
  tags: ['Quaxtag'],
  externalId: 'quax-crm-1',
  metadata: { quaxkey: 'quaxvalue' },
} as const;
/** In every stored form: as written, folded for search, reversed for phone numbers. */
const traces = ['quax', 'zéphyr', 'zephyr', 'zeph@', '998877665', '566778899', 'qx-4711', 'qx4711', 'de-qx', 'deqx'];

/** The traces left anywhere in the database, as `table: trace`. */
async function findTraces({ pool }: Pick<Database, 'pool'>): Promise<string[]> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    for (const trace of traces) {
      // The whole row as text: every column of every type.
      const text = `select 1 from ${name} t where t::text ilike $1 limit 1`;
      if ((await pool.query(text, [`%${trace}%`])).rowCount) found.push(`${name}: ${trace}`);
    }
  }
  return found;
}

async function createPerson(tenant: Tenant) {
  const headers = { 'idempotency-key': `create ${person.email}` };
  const { status, body } = await tenant.call('POST', '/v1/customers', person, headers);
  expect(status).toBe(201);
  return body as { id: string; updatedAt: string };
}

const proposal = {
  externalId: 'P-1',
  number: 'N-1',
  title: 'Offer for Quaxlebrück Gewürze, as ZÉPHYRINE QUAXLEBRÜCK asked',
  status: 'accepted',
  customerExternalId: person.externalId,
  sentAt: '2026-03-01T09:30:00Z',
  acceptedAt: '2026-03-02T09:30:00Z',
  acceptedBy: { name: 'Zéphyrine Q.', email: person.email },
  notes: 'Dear Zéphyrine, we deliver to Quaxgasse 17.',
  publicUrl: 'https://offers.example/zeph@quaxlebruck.example',
  metadata: { contact: person.email, channel: 'fair' },
  lineItems: [
    { type: 'service', name: 'Visit at Quaxgasse 17', description: person.name, quantity: 3, unitPrice: '12.50' },
    { type: 'service', name: 'Zephyr fan', quantity: 1, unitPrice: '100' },
  ],
};

const erase = (database: Database, tenant: Tenant, id: string, memberId: string | null = null) =>
  eraseCustomer(forOrganization(database, tenant.organization.id), storedId('customer', id) ?? '', memberId);

describe('erasing the only customer', () => {
  // In its own database, so the search finds no rows of other tests.
  const world = useWorld({ ownDatabase: true });

  test('locks what mentions the customer, and reads it in parts', async () => {
    const tenant = await world.organization();
    const { id } = await createPerson(tenant);
    const em = forOrganization(world.database, tenant.organization.id);
    const statements = await statementsDuring(() => eraseCustomer(em, storedId('customer', id) ?? '', null));
    const locking = statements.map(({ text }) => text).filter((text) => text.endsWith(' order by id for update'));
    expect(locking.length).toBeGreaterThan(4);
    // Only the ids: some organizations have more than fits into the memory.
    expect(locking.filter((text) => !text.startsWith('select id from '))).toEqual([]);
  });

  test('leaves no personal data anywhere in the database, and keeps ids and amounts', async () => {
    const tenant = await world.organization();
    const { id, updatedAt } = await createPerson(tenant);
    const lineItems = proposal.lineItems.slice(0, 1);
    await importInto(world, tenant).rows('proposals', { ...proposal, lineItems });
    for (const names of [{ detail: `Key for ${person.name}` }, { detail: 'Website', previous: person.name }])
      await writeEvent(tenant.em(), { action: 'key_renamed', memberId: null, ...names });
    const before = await fetchRecord(tenant, 'proposals', 'P-1');
    expect(await findTraces(world.database)).toEqual(
      expect.arrayContaining([
        'public.customers: quax',
        'public.customers: 566778899',
        'public.proposals: zephyr',
        'public.proposal_lines: quax',
        'public.idempotency_keys: quax',
        'public.audit_events: quax',
      ]),
    );

    expect(await erase(world.database, tenant, id, tenant.admin.id)).toBe(true);

    expect(await findTraces(world.database)).toEqual([]);
    const { body } = await tenant.call('GET', `/v1/customers/${id}`);
    expect(body).toMatchObject({
      id,
      name: 'Erased customer',
      email: null,
      tags: [],
      metadata: {},
      status: 'archived',
    });
    expect(Date.parse(body.updatedAt)).toBeGreaterThanOrEqual(Date.parse(updatedAt));
    const after = await fetchRecord(tenant, 'proposals', 'P-1');
    const { subtotal, discountTotal, taxTotal, total, number, status, customerId } = before;
    expect(after).toMatchObject({ subtotal, discountTotal, taxTotal, total, number, status, customerId });
    expect(after).toMatchObject({
      title: 'Offer for ***, as *** asked',
      acceptedBy: { name: 'Erased customer', email: null },
      customer: { id, name: 'Erased customer', companyName: null, email: null, phone: null },
      metadata: { contact: '***', channel: 'fair' },
      publicUrl: null,
    });
    expect(after.lineItems[0]).toMatchObject({ name: 'Visit at ***', quantity: '3', total: before.lineItems[0].total });
    const [event] = await readEvents(tenant.em(), 'change', 1);
    expect(event).toMatchObject({ action: 'customer_erased', memberId: tenant.admin.id, detail: id });
    const search = await tenant.call('GET', `/v1/proposals?q=${encodeURIComponent('erased customer')}`);
    expect(search.body.data).toHaveLength(1);
  });
});

describe('erasing a customer', () => {
  const world = useWorld();

  test('changes nothing the second time, and never changes other customers', async () => {
    const tenant = await world.organization();
    const neighbour = await world.organization();
    const { id } = await createPerson(tenant);
    const { rows } = importInto(world, tenant);
    await rows('customers', { externalId: 'C-2', name: 'Zephyr Ltd' });
    const other = {
      ...proposal,
      customerExternalId: 'C-2',
      acceptedBy: { name: 'Zephyr' },
      title: 'Fans',
      notes: null,
    };
    await rows('proposals', { ...other, publicUrl: null, metadata: {}, lineItems: proposal.lineItems.slice(1) });
    const before = await fetchRecord(tenant, 'proposals', 'P-1');
    expect(await erase(world.database, neighbour, id)).toBeUndefined();
    expect(await erase(world.database, tenant, id)).toBe(true);
    const { body: erased, headers } = await tenant.call('GET', `/v1/customers/${id}`);
    const events = await readEvents(tenant.em(), 'change', 50);
    expect(await erase(world.database, tenant, id)).toBe(false);
    const again = await tenant.call('GET', `/v1/customers/${id}`);
    expect([again.body, again.headers.get('etag')]).toEqual([erased, headers.get('etag')]);
    expect(await readEvents(tenant.em(), 'change', 50)).toEqual(events);
    expect(await fetchRecord(tenant, 'proposals', 'P-1')).toEqual(before);
    expect(await fetchRecord(tenant, 'customers', 'C-2')).toMatchObject({ name: 'Zephyr Ltd', status: 'active' });
  });

  test('finds the parts of a display name, and the name in a URL', async () => {
    const tenant = await world.organization();
    const { rows } = importInto(world, tenant);
    await rows('customers', { externalId: 'C-1', name: 'Jörg van Quax' });
    const own = { ...proposal, customerExternalId: 'C-1', title: 'Quax, the van for Jörg', lineItems: [], notes: null };
    await rows('proposals', { ...own, publicUrl: 'https://offers.example/17-joerg-van-quax' });
    const { customerId } = await fetchRecord(tenant, 'proposals', 'P-1');
    await erase(world.database, tenant, customerId);
    const erased = { title: '***, the van for ***', publicUrl: null };
    expect(await fetchRecord(tenant, 'proposals', 'P-1')).toMatchObject(erased);
  });

  test('erases its name in the Idempotency-Keys of other customers, and nothing else about them', async () => {
    const tenant = await world.organization();
    const { id } = await createPerson(tenant);
    const headers = { 'idempotency-key': `referred by ${person.email}` };
    const { body: referred } = await tenant.call('POST', '/v1/customers', { name: 'Olaf Berg' }, headers);
    expect(await erase(world.database, tenant, id)).toBe(true);
    const { rows } = await world.database.pool.query<{ key: string; body: string }>(
      'select key, body from idempotency_keys where organization_id = $1 order by created_at',
      [tenant.organization.id],
    );
    expect(rows.map(({ key }) => key)).toEqual([expect.stringMatching(/^erased /), expect.stringMatching(/^erased /)]);
    expect(rows.map(({ body }) => JSON.parse(body))).toMatchObject([
      { id, name: 'Erased customer' },
      { id: referred.id, name: 'Olaf Berg' },
    ]);
  });

  test('a repeated create returns the erased record, and creates no other', async () => {
    const tenant = await world.organization();
    const headers = { 'idempotency-key': 'order-17' };
    const { body } = await tenant.call('POST', '/v1/customers', person, headers);
    await erase(world.database, tenant, body.id);
    const { body: erased } = await tenant.call('GET', `/v1/customers/${body.id}`);
    const repeated = await tenant.call('POST', '/v1/customers', person, headers);
    expect(repeated.headers.get('idempotency-replayed')).toBe('true');
    // As if it had been created without its data.
    expect(repeated.body).toEqual({ ...erased, updatedAt: body.updatedAt, etag: body.etag });
    expect((await tenant.call('GET', '/v1/customers')).body.data).toHaveLength(1);
  });
});

describe('an erased customer', () => {
  const world = useWorld();

  test('has an erasedAt, cannot be changed, and is not recreated by its externalId until that is released', async () => {
    const [tenant, neighbour] = [await world.organization(), await world.organization()];
    const { id } = await createPerson(tenant);
    await erase(world.database, tenant, id);
    const { body: erased } = await tenant.call('GET', `/v1/customers/${id}`);
    expect(erased.erasedAt).toBe(erased.updatedAt);
    for (const patch of [{}, { name: 'Zeph' }])
      expect((await tenant.call('PATCH', `/v1/customers/${id}`, patch)).body).toMatchObject({
        status: 409,
        code: 'customer_erased',
      });
    // What is wrong with the body itself comes first.
    expect((await tenant.call('PATCH', `/v1/customers/${id}`, { etag: '"1-x"' })).body).toMatchObject({
      status: 422,
      errors: [{ pointer: '/etag', code: 'read_only_field' }],
    });
    expect((await tenant.call('POST', '/v1/customers', { externalId: person.externalId })).body).toMatchObject({
      status: 422,
      errors: [{ pointer: '/name', code: 'required' }],
    });
    const refused = { status: 409, code: 'external_id_erased', existingId: id };
    for (const onConflict of ['error', 'return', 'update']) {
      const path = `/v1/customers?onConflict=${onConflict}`;
      expect((await tenant.call('POST', path, person)).body).toMatchObject(refused);
      const headers = { 'idempotency-key': `again ${onConflict}` };
      expect((await tenant.call('POST', path, person, headers)).body).toMatchObject(refused);
    }
    const upsert = { externalId: person.externalId, notes: 'x' };
    expect((await tenant.call('POST', '/v1/customers?onConflict=update', upsert)).body).toMatchObject(refused);
    const { body: other } = await tenant.call('POST', '/v1/customers', { name: 'Other' });
    const { externalId } = person;
    expect((await tenant.call('PATCH', `/v1/customers/${other.id}`, { externalId })).body).toMatchObject(refused);
    expect((await neighbour.call('POST', '/v1/customers', person)).status).toBe(201);

    const importing = importInto(world, tenant);
    const report = await importing.rows('customers', { externalId, name: 'Z' }, { id, name: 'Z' });
    expect(report).toMatchObject({ rejected: 2, created: 0 });
    expect(report.errors.map(({ code }) => code)).toEqual(['external_id_erased', 'customer_erased']);
    expect(await importing.rows('customers', { id, name: 'Erased customer' })).toMatchObject({ unchanged: 1 });
    expect((await tenant.call('GET', '/v1/customers')).body.data).toHaveLength(2);

    const scope = forOrganization(world.database, tenant.organization.id);
    const further = { externalId: 'someone-else', name: 'Else' };
    const { body: gone } = await tenant.call('POST', '/v1/customers', further);
    await eraseCustomer(scope, storedId('customer', gone.id) ?? '', null);
    expect(await releaseExternalId(scope, storedId('customer', id) ?? '', tenant.admin.id)).toBe(true);
    expect((await tenant.call('POST', '/v1/customers', further)).body.code).toBe('external_id_erased');
    expect(await releaseExternalId(scope, storedId('customer', id) ?? '', tenant.admin.id)).toBe(false);
    const back = await tenant.call('POST', '/v1/customers', person);
    expect(back.status).toBe(201);
    expect(back.body.id).not.toBe(id);
    const [event, before] = await readEvents(tenant.em(), 'change', 2);
    expect(event).toMatchObject({ action: 'external_id_released', memberId: tenant.admin.id, detail: id });
    // A release that changes nothing is not logged.
    expect(before?.action).not.toBe(event?.action);
  });

  test('is marked in its proposals: their ETags change, and updatedAt only if their own texts do', async () => {
    const tenant = await world.organization();
    // A number is not redacted, because it may mean anything in other texts.
    const { body } = await tenant.call('POST', '/v1/customers', { ...person, externalId: '4711' });
    const [withName, withoutName] = proposal.lineItems;
    const own = {
      ...proposal,
      customerExternalId: '4711',
      title: 'Offer 4711',
      notes: null,
      metadata: {},
      status: 'draft',
    };
    const silent = { ...own, acceptedBy: null, publicUrl: null };
    const rows = [
      { ...own, lineItems: [withoutName] },
      { ...silent, externalId: 'P-2', number: 'N-2', lineItems: [withName] },
      { ...silent, externalId: 'P-3', number: 'N-3', lineItems: [withoutName] },
      { ...silent, externalId: 'P-4', number: 'N-4', lineItems: [withName] },
    ];
    await importInto(world, tenant).rows('proposals', ...rows);
    // As if a transaction that began after the erasure had changed it first.
    await world.database.pool.query(
      `update proposals set updated_at = now() + interval '1 hour' where organization_id = $1 and number = 'N-4'`,
      [tenant.organization.id],
    );
    const read = () => Promise.all(rows.map(({ externalId }) => fetchRecord(tenant, 'proposals', externalId)));
    const before = await read();
    await erase(world.database, tenant, body.id);
    const after = await read();
    expect(before.map(({ customer }) => customer.erasedAt)).toEqual([null, null, null, null]);
    for (const [index, { title, customer, etag }] of after.entries()) {
      expect([title, customer.erasedAt]).toEqual(['Offer 4711', expect.stringMatching(/Z$/)]);
      expect(etag).not.toBe(before[index].etag);
    }
    const moved = after.map(({ updatedAt }, index) => Date.parse(updatedAt) - Date.parse(before[index].updatedAt));
    expect(moved.map(Math.sign)).toEqual([1, 1, 0, 0]);
    const text = 'select revision from proposals where organization_id = $1 order by number';
    const { rows: versions } = await world.database.pool.query(text, [tenant.organization.id]);
    expect(versions).toEqual([2, 2, 1, 2].map((revision) => ({ revision })));
  });
});

test('names of three characters and more are replaced as whole words, and found whatever they contain', () => {
  const redaction = new Redaction(['Ann', 'Al', String.raw`50%_a\b`], ['May']);
  expect(redaction.redact('ANN, Al, Anna and Joann in may with May')).toBe('***, Al, Anna and Joann in may with ***');
  expect(redaction.patterns).toEqual(['[Aa][nN][nN]', String.raw`50%_[aA]\\[bB]`]);
});

test('finds a name in another case, whatever letters the locale of the database knows', async () => {
  const { url, drop } = await ownDatabase(undefined, "template0 encoding 'UTF8' locale_provider libc locale 'C'");
  const database = await openDatabase({ url });
  try {
    await migrate(database);
    const fields = { name: 'Acme', slug: 'acme', plan: 'team', currency: 'EUR' } as const;
    const organization = await createOrganization(database, fields);
    const tenant = forOrganization(database, organization.id);
    const customer = JSON.stringify({ externalId: 'C-1', name: 'Jörg Øst', companyName: 'Οδυσσεύς (1)' });
    await withFile('c.jsonl', customer, (file) => importFile({ database, organization, kind: 'customers', file }));
    for (const detail of ['Key for JÖRG ØST', 'ΟΔΥΣΣΕΎΣ (1)', 'Joerg'])
      await writeEvent(tenant.em(), { action: 'key_renamed', memberId: null, detail });
    const { id } = await tenant.em().findOneOrFail(Customer, {});
    expect(await eraseCustomer(tenant, id, null)).toBe(true);
    const details = (await readEvents(tenant.em(), 'change', 10)).map(({ detail }) => detail);
    expect(details.toReversed()).toEqual(['Key for ***', '***', 'Joerg', expect.stringMatching(/^cus_/)]);
  } finally {
    await database.orm.close();
    await drop();
  }
});

describe('a write that waits for an erasure', () => {
  const world = useWorld({ ownDatabase: true });
  const { externalId } = person;

  /** Starts the write after the erasure has changed the customer, and commits the erasure once the write waits for it. */
  async function during<T>(tenant: Tenant, id: string, write: () => Promise<T>): Promise<T> {
    const { pool } = world.database;
    let isDone = false;
    const waiting = async (count: number) => {
      const isEnough = async () => isDone || (await waitingStatements(world.database)).length === count;
      await expect.poll(isEnough, { interval: 5, timeout: 120_000 }).toBe(true);
    };
    const client = await patientConnection(pool);
    try {
      await client.query('begin');
      // The stored response to the create is erased after the customer.
      await client.query('select from idempotency_keys where organization_id = $1 for update', [
        tenant.organization.id,
      ]);
      const erasing = erase(world.database, tenant, id);
      await waiting(1);
      const writing = write();
      // On a cluster, the externalId is refused before the erasure changes the customer: not every write waits.
      const end = () => void (isDone = world.database.isDistributed);
      writing.then(end, end);
      await waiting(2);
      await client.query('commit');
      expect(await erasing).toBe(true);
      return await writing;
    } finally {
      client.release();
    }
  }

  const calls: [string, string, string, object, Record<string, string>?][] = [
    ['a create', 'POST', '', person],
    ['a create with an Idempotency-Key', 'POST', '', person, { 'idempotency-key': 'another' }],
    ['onConflict=return', 'POST', '?onConflict=return', person],
    ['onConflict=update', 'POST', '?onConflict=update', person],
    ['onConflict=update with an Idempotency-Key', 'POST', '?onConflict=update', person, { 'idempotency-key': 'more' }],
    ['an update of another customer', 'PATCH', '/OTHER', { externalId }],
  ];
  test.each(calls)('%s is rejected', async (_, method, path, body, headers) => {
    const tenant = await world.organization();
    const { id } = await createPerson(tenant);
    const { body: other } = await tenant.call('POST', '/v1/customers', { name: 'Other' });
    const { status, body: answer } = await during(tenant, id, () =>
      tenant.call(method, `/v1/customers${path.replace('OTHER', other.id)}`, body, headers),
    );
    expect([status, answer.code, answer.existingId]).toEqual([409, 'external_id_erased', id]);
    const { data } = (await tenant.call('GET', '/v1/customers')).body;
    expect(data.map((one: { name: string }) => one.name).toSorted()).toEqual(['Erased customer', 'Other']);
  });

  test('a second erasure changes nothing', async () => {
    const tenant = await world.organization();
    const { id } = await createPerson(tenant);
    expect(await during(tenant, id, () => erase(world.database, tenant, id))).toBe(false);
  });

  test.each(['externalId', 'email'] as const)(
    'the row of an import matched by %s is rejected, the others are stored',
    async (match) => {
      const tenant = await world.organization();
      const { id } = await createPerson(tenant);
      const rows = [
        { externalId, name: 'Z', email: 'new@example.com' },
        { externalId: 'other', name: 'Other', email: 'other@example.com' },
      ];
      const importing = importInto(world, tenant, { choices: { match } });
      const report = await during(tenant, id, () => importing.rows('customers', ...rows));
      expect(report).toMatchObject({ created: 1, rejected: 1 });
      expect(report.errors.map(({ code }) => code)).toEqual(['external_id_erased']);
      expect((await tenant.call('GET', '/v1/customers')).body.data).toHaveLength(2);
    },
  );
});

describe('the customers command', () => {
  const world = useWorld();
  const run = (...words: string[]) => runCommand(['customers', ...words], { DATABASE_URL: inject('databaseUrl') });

  test('requires --yes without a terminal, and can be run twice', async () => {
    const tenant = await world.organization();
    const { slug } = tenant.organization;
    const { id } = await createPerson(tenant);
    const asked = await run('erase', id, '--organization', slug);
    expect(asked).toMatchObject({ status: 1, out: '' });
    expect(asked.err).toContain('pass --yes');
    expect((await tenant.call('GET', `/v1/customers/${id}`)).body.name).toBe(person.name);
    expect(await run('erase', id, '--organization', slug, '--yes')).toEqual({
      status: 0,
      out: `Erased ${id}.\n`,
      err: '',
    });
    const again = await run('erase', id, '--organization', slug, '--yes', '--json');
    expect(JSON.parse(again.out)).toEqual({ id, erased: false });
  });

  test('asks at a terminal, and erases only after a yes', async () => {
    const tenant = await world.organization();
    const { id } = await createPerson(tenant);
    const words = ['customers', 'erase', id, '--organization', tenant.organization.slug];
    const type = (typed: string) => runCommand(words, { DATABASE_URL: inject('databaseUrl') }, { typed });
    const question = (proposals: string) =>
      `Erase the personal data of ${person.name} (${id})${proposals}? This cannot be undone. Type "yes" to continue: `;
    expect(await type('y\n')).toEqual({ status: 1, out: '', err: `${question('')}error: Nothing was erased.\n` });
    await importInto(world, tenant).rows('proposals', proposal);
    expect(await type(' Yes \n')).toEqual({
      status: 0,
      out: `Erased ${id}.\n`,
      err: question(', including in 1 proposal'),
    });
  });

  test('rejects an invalid id, and an id of another organization', async () => {
    const [tenant, neighbour] = [await world.organization(), await world.organization()];
    const { id } = await createPerson(tenant);
    const { slug } = neighbour.organization;
    expect(await run('erase', 'cus_1', '--organization', slug, '--yes')).toMatchObject({ status: 1 });
    const foreign = await run('erase', id, '--organization', slug, '--yes');
    expect(foreign).toMatchObject({ status: 1, err: `error: ${slug} has no customer ${id}\n` });
  });

  test('releases the externalId of an erased customer, once', async () => {
    const [tenant, neighbour] = [await world.organization(), await world.organization()];
    const { id } = await createPerson(tenant);
    const release = (slug: string, ...more: string[]) => run('release', id, '--organization', slug, ...more);
    const { slug } = tenant.organization;
    const nothing = { status: 0, out: `${id} has no externalId to release.\n`, err: '' };
    expect(await release(slug)).toEqual(nothing);
    await erase(world.database, tenant, id);
    expect(await release(neighbour.organization.slug)).toMatchObject({
      status: 1,
      err: `error: ${neighbour.organization.slug} has no customer ${id}\n`,
    });
    expect((await tenant.call('POST', '/v1/customers', person)).status).toBe(409);
    expect(await release(slug)).toEqual({ status: 0, out: `Released the externalId of ${id}.\n`, err: '' });
    expect(JSON.parse((await release(slug, '--json')).out)).toEqual({ id, released: false });
    expect((await tenant.call('POST', '/v1/customers', person)).status).toBe(201);
    const [event] = await readEvents(tenant.em(), 'change', 1);
    expect(event).toMatchObject({ action: 'external_id_released', memberId: null, detail: id });
  });
});
