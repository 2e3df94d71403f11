/** Databases on a Citus cluster, if the PostgreSQL of the test run is a coordinator. */
import pg from 'pg';
import { distribute } from '../../server/database/distribute.ts';
import { migrate } from '../../server/database/migrate.ts';
import type { Database, Address } from '../../server/database/orm.ts';

export const citusIsMissing = 'Citus is not installed in the PostgreSQL of this run: skipping the cluster tests.';

type Worker = { nodename: string; nodeport: number };

/** Few, because each shard of each table has its own indexes. */
const shards = 4;

async function run<Row extends object>(url: string, ...statements: string[]): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    let rows: Row[] = [];
    for (const text of statements) ({ rows } = await client.query<Row>(text));
    return rows;
  } finally {
    await client.end();
  }
}

/** The worker nodes of the cluster that this database belongs to; undefined if it has no Citus. */
export async function workersOf(url: string): Promise<Worker[] | undefined> {
  const installed = await run(url, "select from pg_extension where extname = 'citus'");
  if (installed.length === 0) return undefined;
  return run<Worker>(url, "select nodename, nodeport from pg_dist_node where groupid > 0 and noderole = 'primary'");
}

function on(url: string, { nodename, nodeport }: Worker): string {
  const other = new URL(url);
  other.hostname = nodename;
  other.port = String(nodeport);
  return other.href;
}

const inDatabase = (url: string, name: string) => {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
};

/** Creates a database on every node and joins them to a separate cluster. */
export async function createOnNodes(serverUrl: string, name: string, workers: readonly Worker[]): Promise<void> {
  for (const url of [...workers.map((worker) => on(serverUrl, worker)), serverUrl]) {
    await run(url, 'set citus.enable_create_database_propagation = off', `create database ${name}`);
    await run(inDatabase(url, name), 'create extension citus');
  }
  const { hostname, port } = new URL(serverUrl);
  const join = workers.map(({ nodename, nodeport }) => `select citus_add_node('${nodename}', ${nodeport})`);
  await run(inDatabase(serverUrl, name), `select citus_set_coordinator_host('${hostname}', ${port})`, ...join);
}

export async function dropOnNodes(serverUrl: string, name: string, workers: readonly Worker[]): Promise<void> {
  for (const url of [serverUrl, ...workers.map((worker) => on(serverUrl, worker))]) {
    await run(url, 'set citus.enable_create_database_propagation = off', `drop database ${name} with (force)`);
  }
}

/** Migrates a database, and distributes it if it has Citus. */
export async function prepare(database: Database & { address: Address }): Promise<void> {
  await migrate(database);
  const { rows } = await database.pool.query("select from pg_extension where extname = 'citus'");
  if (rows.length > 0) await distribute(database.address, { shards });
}
