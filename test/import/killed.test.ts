/** Imports that are killed at random points, or lose their connection, and run again. KILLS=10 kills more often. */
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { ownModule } from '../../server/files.ts';
import { ImportProcesses } from '../../server/uploads/process.ts';
import type { Job } from '../../server/uploads/process.ts';
import { uuidv7 } from '../../server/entities/uuid.ts';
import { waitingStatements } from '../locks.ts';
import { patientConnection } from '../patient.ts';
import { program } from '../program.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';
import { importInto, withFile } from './importing.ts';

const world = useWorld({ ownDatabase: true });
const kills = Number(process.env.KILLS ?? 2);
/** Imported in chunks of 1000: a kill hits between two of them, or during one. */
const proposals = 2000 + 1000 * kills;

const row = (index: number) => ({
  externalId: `P-${index}`,
  number: `N-${index}`,
  title: `Offer ${index}`,
  status: 'draft',
  // Some have no customer, so nothing that they refer to has to be loaded.
  ...(index % 8 < 7 && { customerExternalId: `C-${index % 8}` }),
  lineItems: [1, 2, 3].map((number) => ({
    type: 'service',
    name: `Hour ${number}`,
    quantity: index + number,
    unitPrice: '12.50',
  })),
});

async function start(): Promise<Tenant> {
  const tenant = await world.organization();
  const customers = Array.from({ length: 7 }, (_, index) => ({ externalId: `C-${index}`, name: `Customer ${index}` }));
  await importInto(world, tenant).rows('customers', ...customers);
  return tenant;
}

async function countProposals({ organization }: Tenant): Promise<number> {
  const text = 'select count(*)::int as count from proposals where organization_id = $1';
  return (await world.database.pool.query<{ count: number }>(text, [organization.id])).rows[0]?.count ?? 0;
}

/** A checksum of everything in the file about proposals and their lines, and of what is computed from it. */
async function checksum({ organization }: Tenant): Promise<unknown> {
  const { rows } = await world.database.pool.query(
    `select count(*)::int, md5(string_agg(concat_ws('|', p.external_id, p.number, p.title, p.status, p.total, p.search,
        p.customer_key, p.line_item_count, l.lines), E'\\n' order by p.external_id)) as checksum
     from proposals p
     join lateral (select string_agg(concat_ws(',', position, name, quantity, unit_price, total), ';' order by position) as lines
       from proposal_lines where organization_id = $1 and proposal_id = p.id) l on true
     where p.organization_id = $1`,
    [organization.id],
  );
  return rows[0];
}

function run({ organization }: Tenant, file: string, [kind = 'proposals', ...options]: readonly string[] = []) {
  const env = { ...process.env, DATABASE_URL: world.database.address.url };
  const words = [program, 'import', kind, file, '--organization', organization.slug, '--json', ...options];
  const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { out: '', err: '' };
  child.stdout.on('data', (text) => (output.out += String(text)));
  child.stderr.on('data', (text) => (output.err += String(text)));
  return { child, ended: once(child, 'close').then(() => output) };
}

/** Kills the import once this many proposals are stored, unless it ends first. */
async function killAt(tenant: Tenant, file: string, stored: number): Promise<void> {
  const { child, ended } = run(tenant, file);
  while (child.exitCode === null && (await countProposals(tenant)) < stored);
  child.kill('SIGKILL');
  await ended;
}

test(`an import that is killed ${kills} times ends with the same rows as one that is not`, async () => {
  const [undisturbed, tenant] = [await start(), await start()];
  const text = Array.from({ length: proposals }, (_, index) => `${JSON.stringify(row(index))}\n`).join('');
  await withFile('rows.jsonl', text, async (file) => {
    await run(undisturbed, file).ended;
    const places = Array.from({ length: kills }, () => Math.ceil(Math.random() * (proposals - 1500)));
    for (const place of places.toSorted((left, right) => left - right)) await killAt(tenant, file, place);
    const before = await countProposals(tenant);
    expect(before, `killed at ${places.join(', ')}`).toBeLessThan(proposals);
    const report = JSON.parse((await run(tenant, file).ended).out);
    expect(report).toMatchObject({ unchanged: before, created: proposals - before, rejected: 0 });
    expect(await checksum(tenant)).toEqual(await checksum(undisturbed));
    expect(await checksum(tenant)).toMatchObject({ count: proposals });
  });
});

/** Makes the import of a customer with this externalId wait until it is released. */
async function holdUp({ organization }: Tenant, externalId: string) {
  const holder = await patientConnection(world.database.pool);
  await holder.query('begin');
  const taking = `update customers set external_id = $2 where organization_id = $1 and external_id = 'C-0'`;
  await holder.query(taking, [organization.id, externalId]);
  return holder;
}

const jobOf = (tenant: Tenant, file: string, task: Job['task']): Job => ({
  id: uuidv7(),
  organizationId: tenant.organization.id,
  kind: 'customers',
  fileName: 'rows.csv',
  memberId: tenant.admin.id,
  inspection: null,
  records: { created: [], updated: [] },
  task,
  address: world.database.address,
  file,
  rejects: `${file}.${uuidv7()}`,
  choices: null,
  remembered: null,
});

test('a process that was told to stop gets no other job, even if it finished the last one', async () => {
  const tenant = await world.organization();
  const processes = new ImportProcesses();
  const outcomeOf = (content: string, signal: AbortSignal) =>
    withFile('rows.csv', content, (file) =>
      processes.run({ ...jobOf(tenant, file, 'check'), isLong: true }, signal, () => undefined),
    );
  // Its columns are a question to the admin, so nothing is read that could be stopped.
  expect((await outcomeOf('x,y\n1,2\n', AbortSignal.abort())).state).toBe('mapping');
  expect((await outcomeOf('externalId,name\nN-1,Ann\n', new AbortController().signal)).state).toBe('checked');
  processes.close();
});

test('the process that imports an uploaded file ends after its chunk if the service is gone', async () => {
  const tenant = await start();
  const holder = await holdUp(tenant, 'N-1500');
  const rows = Array.from({ length: 2600 }, (_, index) => `N-${index},Ann\n`);
  await withFile('rows.csv', `externalId,name\n${rows.join('')}`, async (file) => {
    const child = fork(ownModule('uploads/worker.ts'), { serialization: 'advanced', stdio: 'ignore' });
    child.send(jobOf(tenant, file, 'import'));
    const isWaiting = async () => (await waitingStatements(world.database)).some((text) => text.includes('customers'));
    await expect.poll(isWaiting).toBe(true);
    child.disconnect();
    await holder.query('rollback');
    holder.release();
    await once(child, 'exit');
  });
  expect((await tenant.client.customers.list({ externalId: 'N-1999' })).data).toHaveLength(1);
  expect((await tenant.client.customers.list({ externalId: 'N-2000' })).data).toEqual([]);
});

test.each([
  [['customers'], 'run the command again, and they will not be imported twice'],
  [['customers', '--match', 'none'], 'a row that you import again creates another record'],
])('an import of %j that loses its connection says how much it has stored', async (words, advice) => {
  const tenant = await start();
  const { pool } = world.database;
  const holder = await holdUp(tenant, 'N-1500');
  const { rows: holding } = await holder.query<{ pid: number }>('select pg_backend_pid() as pid');
  // In a cluster, a statement waits where its rows are. Elsewhere, the import may also wait briefly for other tests.
  const isWaiting = world.database.isDistributed
    ? `state = 'active'`
    : `${holding[0]?.pid} = any(pg_blocking_pids(pid))`;
  const endWaiting = `select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and ${isWaiting}`;
  const rows = Array.from({ length: 1600 }, (_, index) => `{"externalId":"N-${index}","name":"Ann"}\n`);
  const { err } = await withFile('rows.jsonl', rows.join(''), async (file) => {
    const { child, ended } = run(tenant, file, words);
    // Again and again: what waits first may belong to another test.
    while (child.exitCode === null)
      if ((await waitingStatements(world.database)).length > 0) await pool.query(endWaiting);
    return ended;
  });
  await holder.query('rollback');
  holder.release();
  const kept = `The import stopped after at least 1000 rows. Rows already imported are kept; ${advice}.`;
  expect(err).toMatch(new RegExp(`^${kept}\nerror: .*terminat.*\n$`));
});
