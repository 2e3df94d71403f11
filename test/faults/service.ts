/** The service on a database of its own, which a test may hurt. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { addMember } from '../../server/accounts/members.ts';
import { createOrganization } from '../../server/accounts/organizations.ts';
import { migrate } from '../../server/database/migrate.ts';
import { openDatabase } from '../../server/database/orm.ts';
import type { Database } from '../../server/database/orm.ts';
import { forOrganization } from '../../server/database/tenant.ts';
import { serve } from '../../server/http/server.ts';
import type { ServeOptions } from '../../server/http/server.ts';
import { issueKey } from '../../server/keys/issue.ts';

/** 2 where every push is tested; `FAULT_ROUNDS=20` for a drill. */
export const rounds = Number(process.env.FAULT_ROUNDS ?? 2);

/** An empty database beside the others of the run, and how to drop it. */
export async function emptyDatabase(): Promise<{ url: string; name: string; drop(): Promise<void> }> {
  const name = `faults_${randomUUID().replaceAll('-', '')}`;
  await administer(`create database ${name}`);
  const url = new URL(inject('databaseUrl'));
  url.pathname = `/${name}`;
  return { url: url.href, name, drop: () => administer(`drop database if exists ${name} with (force)`) };
}

/** Runs one statement beside the database under test. */
export async function administer(text: string, values: unknown[] = []): Promise<void> {
  const client = new pg.Client({ connectionString: inject('databaseUrl') });
  await client.connect();
  await client.query(text, values);
  await client.end();
}

/** API keys of a new organization with the Team plan. */
export async function issueKeys(database: Database, count: number): Promise<string[]> {
  const slug = `faults-${randomUUID()}`;
  const organization = await createOrganization(database, { name: 'Faults', slug, plan: 'team', currency: 'USD' });
  const fields = { email: `${slug}@example.com`, name: 'Ann', role: 'admin' } as const;
  const admin = await addMember(database, organization, fields);
  const keys: string[] = [];
  for (let index = 0; index < count; index += 1) {
    keys.push((await issueKey(forOrganization(database, organization.id).em(), admin, `Writer ${index}`)).raw);
  }
  return keys;
}

const unlimited = { take: () => ({ accepted: true, remaining: 99, resetSeconds: 60 }) };

/** In this process, without a rate limit. */
export async function startService(url: string, options: Partial<ServeOptions> = {}) {
  const database = await openDatabase({ url });
  await migrate(database);
  const log: Record<string, unknown>[] = [];
  const serving = await serve({
    database,
    log: (entry) => log.push(entry),
    host: '127.0.0.1',
    port: 0,
    limiter: unlimited,
    ...options,
  });
  const [key = ''] = await issueKeys(database, 1);
  const close = async () => {
    await serving.close();
    await database.orm.close();
  };
  return { database, url: serving.url, key, log, close };
}
