/**
 * The cost of an import compared with a plain COPY of the same rows into a table with the same indexes: into an empty and
 * into a full organization, alternating, and the same file again, unchanged and with a tenth of its rows changed. `node
 * test/bench/import.ts 1000000` sets the number of rows per file; `node test/bench/import.ts 100000 proposals` imports
 * proposals with three lines each, without a COPY. Further arguments are Node options for the import, such as --cpu-prof.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { createOrganization } from '../../server/accounts/organizations.ts';
import { migrate } from '../../server/database/migrate.ts';
import { openDatabase } from '../../server/database/orm.ts';
import type { Database } from '../../server/database/orm.ts';
import { throwawayDatabase } from '../database.ts';
import { cpuSeconds, postmasterPid, program, runWatched } from './processes.ts';
import type { Ran } from './processes.ts';

const names = ['Alder', 'Birch', 'Cedar', 'Dogwood', 'Elm', 'Fir', 'Gum', 'Hazel', 'Ilex', 'Juniper', 'Kauri', 'Larch'];
const cities = ['Berlin', 'Köln', 'Lyon', 'São Paulo', 'Porto', 'Graz', 'Bergen', 'Łódź'];
const pick = (list: readonly string[], seed: number) => list[Math.abs(seed) % list.length] ?? '';
const word = (index: number) => ((index * 2_654_435_761) >>> 0).toString(36);

const [, , count = '100000', kind = 'customers', ...nodeOptions] = process.argv;

const header =
  'externalId,companyName,firstName,lastName,email,phone,address.line1,address.city,address.postalCode,address.country,tags,metadata.segment\n';

function customerRow(index: number): string {
  const company = `${pick(names, index)} ${word(index)} & ${pick(names, index >> 4)}`;
  const address = `${pick(names, index >> 2)}weg ${index % 200},${pick(cities, index)},${10_000 + (index % 90_000)},DE`;
  const person = `${pick(names, index >> 3)},${word(index + 7)}`;
  const contact = `${word(index)}@company-${index}.example,+49 30 ${1_000_000 + index}`;
  return `C-${index},${company},${person},${contact},${address},wholesale;region-${index % 50},segment-${index % 9}\n`;
}

const changedRow = (index: number) =>
  index % 10 === 0 ? customerRow(index).replace('+49 30', '+49 40') : customerRow(index);

const line = (name: string, quantity: number) => ({
  type: 'service',
  name,
  quantity,
  unitPrice: '18.50',
  taxRate: '19',
});
function proposalRow(index: number): string {
  const lineItems = [1, 2, 3].map((number) => line(`${pick(names, index + number)} ${word(index)}`, number));
  const sentAt = '2026-03-01T09:30:00Z';
  const identity = { externalId: `P-${index}`, number: `P-${index}`, title: `Offer ${word(index)}`, status: 'sent' };
  return `${JSON.stringify({ ...identity, sentAt, customerExternalId: `C-${index % 1000}`, lineItems })}\n`;
}

async function writeRows(file: string, first: string, row: (index: number) => string, from: number, rows: number) {
  function* lines() {
    yield first;
    for (let start = from; start < from + rows; start += 1000) {
      const end = Math.min(start + 1000, from + rows);
      yield Array.from({ length: end - start }, (_, index) => row(start + index)).join('');
    }
  }
  await pipeline(Readable.from(lines()), createWriteStream(file));
}

/** CPU time, unlike elapsed time, hardly depends on other load on the machine. */
type Cost = { seconds: number; databaseSeconds: number; ownSeconds: number; peakMiB?: number };

/** The CPU time of all processes of the database server. */
const databaseSeconds = async ({ pool }: Database) => cpuSeconds(await postmasterPid(pool));

async function measured(database: Database, work: () => Promise<Partial<Cost>>): Promise<Cost> {
  const before = await databaseSeconds(database);
  const startedMs = performance.now();
  const cost = await work();
  const seconds = (performance.now() - startedMs) / 1000;
  return { seconds, ownSeconds: 0, databaseSeconds: (await databaseSeconds(database)) - before, ...cost };
}

const runImport = (url: string, imported: string, file: string): Promise<Ran> =>
  runWatched([...nodeOptions, program, 'import', imported, file, '--organization', 'bench'], { DATABASE_URL: url });

/** Writes the rows whose externalId is in the imported file to a file, in COPY format. */
async function unload({ pool }: Database, file: string, from: number): Promise<void> {
  const client = await pool.connect();
  await client.query('set statement_timeout = 0');
  const rows = `select * from customers where substr(external_id, 3)::int >= ${from}`;
  await pipeline(client.query(copyTo(`copy (${rows}) to stdout`)), createWriteStream(file));
  client.release(true);
}

async function runCopy({ pool }: Database, file: string): Promise<Partial<Cost>> {
  const client = await pool.connect();
  await client.query('set statement_timeout = 0');
  await pipeline(createReadStream(file, { highWaterMark: 256 * 1024 }), client.query(copyFrom('copy bare from stdin')));
  client.release(true);
  return {};
}

function print(what: string, rows: number, { seconds, databaseSeconds: database, ownSeconds, peakMiB }: Cost): void {
  const memory = peakMiB === undefined ? '' : `  peak RSS ${peakMiB.toFixed(0)} MiB`;
  const cpu = `CPU: database ${database.toFixed(1)} s, own ${ownSeconds.toFixed(1)} s`;
  process.stdout.write(
    `${what.padEnd(27)}${seconds.toFixed(1)} s  ${(rows / seconds).toFixed(0)} rows/s  ${cpu}${memory}\n`,
  );
}

async function compareCustomers(database: Database, url: string, folder: string, rows: number): Promise<void> {
  // A separate table with the indexes and checks of the real one.
  await database.pool.query('create table bare (like customers including all)');
  const copied = join(folder, 'rows.copy');
  for (const [name, from] of [
    ['empty', 0],
    ['full', rows],
  ] as const) {
    const file = join(folder, `${name}.csv`);
    await writeRows(file, header, customerRow, from, rows);
    const ours = await measured(database, () => runImport(url, 'customers', file));
    print(`import, ${name}`, rows, ours);
    await unload(database, copied, from);
    const bare = await measured(database, () => runCopy(database, copied));
    print(`COPY, ${name}`, rows, bare);
    process.stdout.write(`ratio, ${name}: ${(ours.seconds / bare.seconds).toFixed(2)}\n`);
    const again = await measured(database, () => runImport(url, 'customers', file));
    print(`import again, unchanged`, rows, again);
    await writeRows(file, header, changedRow, from, rows);
    const changed = await measured(database, () => runImport(url, 'customers', file));
    print(`import again, 10 % changed`, rows, changed);
    const [same, tenth] = [again, changed].map(({ seconds }) => (seconds / ours.seconds).toFixed(2));
    process.stdout.write(`to the first run: unchanged ${same}, 10 % changed ${tenth}\n`);
  }
}

async function importProposals(database: Database, url: string, folder: string, rows: number): Promise<void> {
  const [customers, proposals] = [join(folder, 'customers.csv'), join(folder, 'proposals.jsonl')];
  await writeRows(customers, header, customerRow, 0, 1000);
  await runImport(url, 'customers', customers);
  await writeRows(proposals, '', proposalRow, 0, rows);
  print('proposals', rows, await measured(database, () => runImport(url, 'proposals', proposals)));
  print('proposals, unchanged', rows, await measured(database, () => runImport(url, 'proposals', proposals)));
}

async function main(): Promise<void> {
  const rows = Number(count);
  const { url, close } = await throwawayDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'proposal-api-bench-'));
  try {
    const database = await openDatabase({ url }, { isLimited: false });
    await migrate(database);
    await createOrganization(database, { name: 'Bench', slug: 'bench', plan: 'team', currency: 'EUR' });
    if (kind === 'proposals') await importProposals(database, url, folder, rows);
    else await compareCustomers(database, url, folder, rows);
    await database.orm.close();
  } finally {
    await rm(folder, { recursive: true, force: true });
    await close();
  }
}

await main();
