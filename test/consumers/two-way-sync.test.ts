/** A two-way sync that is killed again and again loses nothing and duplicates nothing. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { forOrganization } from '../../server/database/tenant.ts';
import { eraseCustomer } from '../../server/records/erase-customer.ts';
import { storedId } from '../../server/records/public-id.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';

let nowMs = 0;
// Each request is a second later, so the key never reaches its rate limit.
const world = useWorld({ clock: () => (nowMs += 1000) });
const folder = await mkdtemp(join(tmpdir(), 'proposal-api-sync-'));
afterAll(() => rm(folder, { recursive: true }));

const file = join(folder, 'contacts.sqlite');
const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Runs the program; returns the signal that ended it. */
async function run({ key }: Tenant, killAt = 0): Promise<string | null> {
  const child = spawn(process.execPath, ['--no-warnings', '--import', pathOf('killed.ts'), pathOf('two-way-sync.ts')], {
    env: { API_KEY: key, BASE_URL: world.url, DATABASE_FILE: file, KILL_AT: String(killAt) },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [status, signal] = await once(child, 'exit');
  if (signal === null) expect(status).toBe(0);
  return signal;
}

function edit(text: string, ...values: (string | null)[]): void {
  const database = new DatabaseSync(file);
  database.prepare(text).run(...values);
  database.close();
}

function contacts(): Record<string, unknown>[] {
  const database = new DatabaseSync(file);
  const rows = database.prepare('select key, id, etag, name, email, changed from contacts order by key').all();
  database.close();
  return rows.map((row) => ({ ...row }));
}

test('a two-way sync with SQLite, killed around every request and every commit', { timeout: 600_000 }, async () => {
  const { tenant, ids } = await scene();
  /** Changes on either side, by the number of kills before them. */
  const happenings: Record<number, () => unknown> = {
    12: () => tenant.call('PATCH', `/v1/customers/${ids[1]}`, { email: 'there@example.com' }),
    16: () =>
      eraseCustomer(
        forOrganization(world.database, tenant.organization.id),
        storedId('customer', ids[2] ?? '') ?? '',
        null,
      ),
    20: () => tenant.call('PATCH', `/v1/customers/${ids[3]}`, { name: 'There', notes: 'kept' }),
    21: () => edit(`update contacts set name = 'Here', changed = 1 where id = ?`, ids[3] ?? ''),
  };
  let kills = 0;
  // A run dies at one of its first nine events, which include the time between a request and its commit.
  while ((await run(tenant, 1 + (kills % 9))) !== null) {
    kills += 1;
    await happenings[kills]?.();
    expect(kills).toBeLessThan(300);
  }
  expect(kills).toBeGreaterThan(40);
  await run(tenant);
  await run(tenant);

  const { data } = (await tenant.call('GET', '/v1/customers?limit=100')).body;
  const there = data.filter(({ erasedAt }: { erasedAt: string | null }) => erasedAt === null);
  expect([data.length, there.length]).toEqual([29, 28]);
  expect(contacts()).toEqual(
    there
      .map((one: any) => ({
        key: one.externalId ?? one.id,
        id: one.id,
        etag: one.etag,
        name: one.name,
        email: one.email,
        changed: 0,
      }))
      .toSorted((left: { key: string }, right: { key: string }) => (left.key < right.key ? -1 : 1)),
  );
  const named = (id: string | undefined) => there.find((one: { id: string }) => one.id === id);
  expect(named(ids[1])).toMatchObject({ email: 'there@example.com' });
  expect(named(ids[3])).toMatchObject({ name: 'Here', notes: 'kept' });
  const ours = there.map(({ externalId }: { externalId: string }) => externalId).filter(Boolean);
  expect(ours.toSorted()).toEqual(Array.from({ length: 9 }, (_, index) => `crm-${index}`));
  process.stdout.write(`two-way sync: killed ${kills} times, 28 contacts, none lost and none duplicated\n`);
});

/** Twenty customers on the service, and nine new contacts on this side. */
async function scene(): Promise<{ tenant: Tenant; ids: string[] }> {
  const tenant = await world.organization();
  const ids: string[] = [];
  for (let count = 0; count < 20; count += 1)
    ids.push(String((await tenant.call('POST', '/v1/customers', { name: `Customer ${count}` })).body.id));
  await run(tenant, 1);
  for (let count = 0; count < 9; count += 1)
    edit('insert into contacts (key, name, changed) values (?, ?, 1)', `crm-${count}`, `Contact ${count}`);
  return { tenant, ids };
}
