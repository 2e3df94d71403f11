/** One PostgreSQL for a whole run: a new database at DATABASE_URL, or an embedded cluster that is deleted afterward. */
import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, inject } from 'vitest';
import type { TestProject } from 'vitest/node';
import { citusIsMissing, createOnNodes, dropOnNodes, prepare, workersOf } from './citus/cluster.ts';
import { openDatabase } from '../server/database/orm.ts';
import { openEmbeddedPostgres } from '../server/embedded/postgres.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    databaseUrl: string;
    /** The name of a migrated database without rows; '' on a cluster, where a copy would have only the coordinator's part. */
    template: string;
  }
}

type Provided = { url: string; close(): Promise<void> };
type OwnDatabase = { url: string; name: string; drop(): Promise<void> };

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { url, close } = await throwawayDatabase();
  const template = await ownDatabase(url);
  const database = await openDatabase({ url: template.url });
  await prepare(database);
  const { rows } = await database.pool.query<{ server_version: string }>('show server_version');
  process.stdout.write(`PostgreSQL ${rows[0]?.server_version}\n`);
  await database.orm.close();
  const isCluster = (await workersOf(url)) !== undefined;
  if (!isCluster) process.stdout.write(`${citusIsMissing}\n`);
  const shared = isCluster ? template : await ownDatabase(url, template.name);
  project.provide('databaseUrl', shared.url);
  project.provide('template', isCluster ? '' : template.name);
  return async () => {
    for (const { drop } of new Set([shared, template])) await drop();
    await close();
  };
}

/** An empty database, and how to delete it. */
export async function throwawayDatabase(): Promise<Provided> {
  if (!process.env.DATABASE_URL) return ownCluster();
  const { url, drop } = await ownDatabase(process.env.DATABASE_URL);
  return { url, close: drop };
}

async function ownCluster(): Promise<Provided> {
  const folder = await mkdtemp(join(tmpdir(), 'proposal-api-test-'));
  await chmod(folder, 0o755);
  // Nothing of a test run needs to survive a power cut.
  const settings = { fsync: 'off', synchronous_commit: 'off', max_prepared_transactions: '5' };
  // The tests create databases, end connections, change keys without firing the triggers, and hide transactions.
  const statements = [
    'alter role proposal_api createdb',
    'grant pg_signal_backend to proposal_api',
    'grant set on parameter session_replication_role, track_activities to proposal_api',
  ];
  const { url, close } = await openEmbeddedPostgres({ dataDir: folder, settings, statements });
  return {
    url,
    async close() {
      await close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A new database that is migrated already, because migrating each takes longer than copying one; empty on a cluster. */
export const migratedDatabase = () => ownDatabase(inject('databaseUrl'), inject('template'));

/** A new, empty database on the same server as the one at this URL, by default that of the test run. */
export async function ownDatabase(serverUrl = inject('databaseUrl'), template = ''): Promise<OwnDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const workers = await workersOf(serverUrl);
  if (workers) {
    await createOnNodes(serverUrl, name, workers);
    return { url: url.href, name, drop: () => dropOnNodes(serverUrl, name, workers) };
  }
  await administer(`create database ${name} template ${template || 'default'}`, [], serverUrl);
  const drop = () => administer(`drop database if exists ${name} with (force)`, [], serverUrl);
  return { url: url.href, name, drop };
}

/** Runs one statement on a separate connection. */
export async function administer(text: string, values: unknown[] = [], url = inject('databaseUrl')): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(text, values);
  await client.end();
}

/** For what a file opens: its cleanups are run after all its tests, the last one first. */
export function cleanupsAfterAll(): (() => unknown)[] {
  const cleanups: (() => unknown)[] = [];
  afterAll(async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  });
  return cleanups;
}
