/** Keys that need an admin's attention: warnings on the pages and by mail. */
import pg from 'pg';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { watchLimits } from '../../server/keys/at-limit.ts';
import { listKeys } from '../../server/keys/list.ts';
import { UsageLog } from '../../server/keys/usage.ts';
import { claimWarnings, readWarnings, releaseWarnings } from '../../server/keys/warnings.ts';
import { publicId } from '../../server/records/public-id.ts';
import { useWorld } from '../world.ts';
import type { Tenant, World } from '../world.ts';
import { startMailServer } from './providers.ts';
import { signIn, someone } from './visiting.ts';

const server = await startMailServer();
afterAll(() => server.close());

const from = 'api@acme.example';
const world = useWorld();
const mailing = useWorld({ ownDatabase: true, mail: { url: server.url, from }, keyWarningsMs: 100 });

type Made = { id: string; name: string };

async function keyNamed(tenant: Tenant, name: string): Promise<Made> {
  await tenant.anotherKey(name);
  const made = (await listKeys(tenant.em())).find((key) => key.name === name);
  return { id: made?.id ?? '', name };
}

const change = (where: World, { id }: Made, changes: string) =>
  where.database.pool.query(`update api_keys set ${changes} where id = $1`, [id]);

async function counted(
  where: World,
  tenant: Tenant,
  { id }: Made,
  { daysAgo = 0, ...counts }: Record<string, number>,
): Promise<void> {
  for (const [outcome, requests] of Object.entries(counts))
    await where.database.pool.query(
      `insert into usage_counts (organization_id, key_id, day, operation, outcome, requests)
       values ($1, $2, (now() at time zone 'utc')::date - $5::int, 'listCustomers', $3, $4)`,
      [tenant.organization.id, id, outcome, requests, daysAgo],
    );
}

async function limitedIn(where: World, tenant: Tenant, { id }: Made, minutes: readonly number[]): Promise<void> {
  let nowMs = 0;
  const failed: unknown[] = [];
  const usage = new UsageLog({ pool: where.database.pool, now: () => nowMs, onError: (error) => failed.push(error) });
  for (const minute of minutes) {
    nowMs = minute * 60_000;
    const event = { keyId: id, organizationId: tenant.organization.id, operation: 'listItems', requestId: 'req_x' };
    for (let count = 0; count < 5; count += 1) usage.record({ ...event, status: 429, code: 'rate_limited' });
  }
  await usage.close();
  expect(failed).toEqual([]);
}

/** How many rows of the organization the driver gets from this table during the work. */
async function rowsRead({ organization }: Tenant, table: string, work: () => Promise<unknown>): Promise<number> {
  const watched = vi.spyOn(pg.Client.prototype, 'query');
  await work();
  const { calls, results } = watched.mock;
  watched.mockRestore();
  const counts = calls.map(async (call, index) => {
    const text: unknown = call[0];
    // Others belong to the work of other organizations in the background.
    const isOwn = JSON.stringify(call.slice(0, 2)).includes(organization.id);
    if (typeof text !== 'string' || !isOwn || !text.includes(`from "${table}"`)) return 0;
    const found: pg.QueryResult | undefined = await results[index]?.value;
    return found?.rows.length ?? 0;
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

const warningsIn = (text: string) => [...text.matchAll(/<li>\s*(“[^<]+?)\s*<a/g)].map(([, sentence]) => sentence);

describe('a key that needs attention', () => {
  test('is listed with the reason on the overview, under API Keys and on its own page, and no other key is', async () => {
    const tenant = await world.organization();
    const [failing, few, ended, limited, burst, unused, expiring] = await Promise.all(
      ['Failing', 'Few', 'Ended', 'Limited', 'Burst', 'Unused', 'Expiring'].map((name) => keyNamed(tenant, name)),
    );
    if (!failing || !few || !ended || !limited || !burst || !unused || !expiring) throw new Error('Seven keys.');
    await counted(world, tenant, failing, { client_error: 20, success: 15, daysAgo: 1 });
    await counted(world, tenant, failing, { server_error: 1, rate_limited: 7 });
    await counted(world, tenant, few, { client_error: 19 });
    await counted(world, tenant, few, { client_error: 19, daysAgo: 2 });
    await counted(world, tenant, burst, { client_error: 20, success: 20, rate_limited: 500 });
    await change(world, ended, `revoked_at = now() - interval '10 minutes', last_used_at = now()`);
    await limitedIn(world, tenant, limited, [7, 8, 9]);
    await limitedIn(world, tenant, burst, [7, 8, 10]);
    // Expiry matters only for a key that is used and has not already been replaced.
    await change(world, unused, `created_at = now() - interval '91 days', ends_at = now() + interval '5 days'`);
    await change(world, few, `ends_at = now() + interval '5 days', replaced_by = '${expiring.id}'`);
    const day = new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10);
    await change(world, expiring, `ends_at = '${day}T02:07:59Z'`);

    const visiting = await signIn(world, await someone(world, tenant));
    const expected = [
      expect.stringContaining(`“Expiring” stops working on ${day} at 02:07 UTC.`),
      '“Unused” has not been used for 90 days. Revoke it if no tool needs it.',
      expect.stringContaining('“Limited” was at its limit of 100 requests a minute for several minutes.'),
      expect.stringContaining('“Ended” was revoked, but a tool still uses it.'),
      expect.stringContaining('“Failing” fails more than it succeeds: 21 of 36 requests since yesterday.'),
    ];
    for (const page of ['/settings/api-keys', '/settings/overview']) {
      const found = warningsIn((await visiting.get(page)).text);
      expect(found).toHaveLength(expected.length);
      expect(found).toEqual(expect.arrayContaining(expected));
    }
    const pageOf = async ({ id }: Made) =>
      (await visiting.get(`/settings/api-keys/${publicId('key', id)}`)).text.includes('class="notice warning"');
    expect([await pageOf(ended), await pageOf(few)]).toEqual([true, false]);
    const stranger = await signIn(world, await someone(world, await world.organization()));
    expect(warningsIn((await stranger.get('/settings/api-keys')).text)).toEqual([]);
  });

  test('is not one that ended long ago, was last used just as it ended, or was at its limit on an earlier day', async () => {
    const tenant = await world.organization();
    const [old, just] = [await keyNamed(tenant, 'Old'), await keyNamed(tenant, 'Just')];
    const [expired, calm] = [await keyNamed(tenant, 'Expired'), await keyNamed(tenant, 'Calm')];
    await change(world, expired, `ends_at = now() - interval '9 days', last_used_at = now() - interval '25 hours'`);
    await limitedIn(world, tenant, calm, [7, 8, 9]);
    await world.database.pool.query(`update key_warnings set seen_at = now() - interval '25 hours' where key_id = $1`, [
      calm.id,
    ]);
    await change(world, old, `revoked_at = now() - interval '9 days', last_used_at = now() - interval '25 hours'`);
    await change(world, just, `revoked_at = now() - interval '30 seconds', last_used_at = now()`);
    const visiting = await signIn(world, await someone(world, tenant));
    expect(warningsIn((await visiting.get('/settings/api-keys')).text)).toEqual([]);
  });

  test('was revoked, replaced or has expired, as the list of keys says', async () => {
    const tenant = await world.organization();
    const [revoked, replaced, expired] = await Promise.all(
      ['Revoked', 'Replaced', 'Expired'].map((name) => keyNamed(tenant, name)),
    );
    if (!revoked || !replaced || !expired) throw new Error('Three keys.');
    const ends = `ends_at = now() - interval '1 hour', last_used_at = now()`;
    await change(world, revoked, `revoked_at = now() - interval '2 hours', ${ends}, replaced_by = '${expired.id}'`);
    await change(world, replaced, `${ends}, replaced_by = '${expired.id}'`);
    await change(world, expired, ends);
    const advice = 'but a tool still uses it. Give that tool another key, or switch it off.';
    expect((await readWarnings(tenant.em(), Date.now())).map(({ sentence }) => sentence).toSorted()).toEqual([
      `“Expired” has expired, ${advice}`,
      `“Replaced” was replaced, ${advice}`,
      `“Revoked” was revoked, ${advice}`,
    ]);
  });
});

test('keys at their limit for minutes are reported once, and no more than 20,000 are remembered', () => {
  const limits = watchLimits();
  const note = (keyId: string, minute: number) => limits.note({ keyId, organizationId: 'o' }, minute * 60_000);
  for (const minute of [1, 1, 2, 3]) note('k', minute);
  expect([limits.take(), limits.take()]).toEqual([[{ keyId: 'k', organizationId: 'o' }], []]);
  for (let other = 0; other < 20_000; other += 1) note(`${other}`, 4);
  note('k', 4);
  expect(limits.take()).toEqual([]);
});

describe('mail about keys', () => {
  const received = (email: string) => server.mails.filter(({ to }) => to.includes(email));

  test('goes to every admin of the organization, once per key and reason', async () => {
    // Created first, so a check that finds the other keys already knows its plan.
    const free = await mailing.organization({ plan: 'free' });
    const tenant = await mailing.organization({ name: 'Acme' });
    const neighbor = await mailing.organization();
    const [member, removed] = [await someone(mailing, tenant), await someone(mailing, tenant, 'admin')];
    await mailing.database.pool.query('update members set removed_at = now() where id = $1', [removed.id]);
    const [first, second] = [await keyNamed(tenant, 'CRM'), await keyNamed(tenant, 'Shop')];
    await change(mailing, first, `ends_at = now() + interval '5 days'`);
    await expect.poll(() => received(tenant.admin.email).length).toBe(1);
    expect(received(tenant.admin.email)[0]?.text).toContain('Subject: An API key of Acme needs attention');
    const expiring = `update api_keys set ends_at = now() + interval '5 days' where organization_id = $1`;
    await mailing.database.pool.query(expiring, [free.organization.id]);
    await change(mailing, second, `created_at = now() - interval '91 days'`);
    await expect.poll(() => received(tenant.admin.email).length).toBe(2);
    const [one = '', other = ''] = received(tenant.admin.email).map(({ text }) => text);
    expect([one.includes('CRM'), one.includes('Shop'), other.includes('CRM'), other.includes('Shop')]).toEqual([
      true,
      false,
      false,
      true,
    ]);
    expect(other).toContain('/settings/api-keys');
    for (const { email } of [member, removed, neighbor.admin, free.admin]) expect(received(email)).toEqual([]);
  });

  test('names all keys for which a check finds a reason', async () => {
    const tenant = await mailing.organization({ name: 'Acme' });
    for (const name of ['CRM', 'Shop']) await tenant.anotherKey(name);
    const expired = `update api_keys set ends_at = now() - interval '10 minutes', last_used_at = now()
      where organization_id = $1 and name <> 'test'`;
    await mailing.database.pool.query(expired, [tenant.organization.id]);
    await expect.poll(() => received(tenant.admin.email).length).toBe(1);
    // Without the line breaks of quoted-printable.
    const text = received(tenant.admin.email)[0]?.text.replaceAll(/=\r?\n/g, '') ?? '';
    expect(text).toContain('Subject: API keys of Acme need attention');
    for (const name of ['CRM', 'Shop'])
      expect(text).toMatch(new RegExp(`${name}\\S+ has expired, but a tool still uses`));
  });

  test('is sent by one of several processes that check at once, and again if it could not be sent', async () => {
    const tenant = await world.organization();
    const key = await keyNamed(tenant, 'CRM');
    await change(world, key, `ends_at = now() + interval '5 days'`);
    await counted(world, tenant, key, { client_error: 20 });
    const warnings = await readWarnings(tenant.em(), Date.now());
    const claims = await Promise.all([1, 2, 3, 4].map(() => claimWarnings(tenant.em(), warnings, Date.now())));
    expect(claims.flat()).toEqual(warnings);
    expect(warnings.map(({ cause }) => cause)).toEqual(['failing', 'expiring']);
    await releaseWarnings(tenant.em(), warnings.slice(0, 1));
    expect(await claimWarnings(tenant.em(), warnings, Date.now())).toEqual(warnings.slice(0, 1));
    const dayMs = 86_400_000;
    for (const [days, open] of [
      [0, []],
      [8, ['failing']],
      [31, ['failing', 'expiring']],
    ] as const) {
      const claimed = await claimWarnings(tenant.em(), warnings, Date.now() + days * dayMs);
      expect(claimed.map(({ cause }) => cause)).toEqual(open);
    }
    // Then the clock is right again, and what was mailed 31 days in the future is mailed again.
    expect(await claimWarnings(tenant.em(), warnings, Date.now())).toEqual(warnings);
  });

  test('is sent once, even if the clock of a process is weeks ahead', async () => {
    const [tenant, later] = [await mailing.organization(), await mailing.organization()];
    await change(mailing, await keyNamed(tenant, 'CRM'), `ends_at = now() + interval '5 days'`);
    await expect.poll(() => received(tenant.admin.email)).toHaveLength(1);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 40 * 86_400_000 });
    try {
      // Organizations are checked in the order in which they were created.
      await change(mailing, await keyNamed(later, 'CRM'), `ends_at = now() + interval '5 days'`);
      await expect.poll(() => received(later.admin.email)).toHaveLength(1);
    } finally {
      vi.useRealTimers();
    }
    expect(received(tenant.admin.email)).toHaveLength(1);
  });

  test('goes to the admins of the others if one organization’s cannot be found', async () => {
    const [broken, tenant] = [await mailing.organization(), await mailing.organization()];
    const { pool } = mailing.database;
    const rejecting = `create function reject() returns trigger language plpgsql as $$ begin raise 'rejected'; end $$;
      create trigger rejecting before insert on key_warnings for each row
      when (new.organization_id = '${broken.organization.id}') execute function reject()`;
    await pool.query(rejecting);
    await change(mailing, await keyNamed(broken, 'CRM'), `ends_at = now() + interval '5 days'`);
    await change(mailing, await keyNamed(tenant, 'CRM'), `ends_at = now() + interval '5 days'`);
    await expect.poll(() => received(tenant.admin.email)).toHaveLength(1);
    expect(received(broken.admin.email)).toEqual([]);
    await pool.query('drop function reject cascade');
  });

  test('that was not delivered is retried', async () => {
    const tenant = await mailing.organization();
    const { email } = tenant.admin;
    server.reject(email);
    await change(mailing, await keyNamed(tenant, 'CRM'), `ends_at = now() + interval '5 days'`);
    // Those of other tests were not about mail.
    await expect.poll(() => mailing.log.filter(({ error }) => Object(error).name === 'MailError')).not.toEqual([]);
    server.accept(email);
    await expect.poll(() => received(email)).toHaveLength(1);
  });
});

test('keys that ended long ago are neither read for warnings nor to issue another key', async () => {
  const tenant = await world.organization();
  await world.database.pool.query(
    `with ended as (
       insert into api_keys (organization_id, id, name, prefix, last_four, hash, created_by, created_at, ends_at)
       select organization_id, gen_random_uuid(), name, prefix, last_four, hash || n, created_by,
         now() - interval '9 days', now() - interval '8 days'
       from api_keys, generate_series(1, 40) n where organization_id = $1 returning *)
     insert into key_warnings (organization_id, key_id, cause, mailed_at)
     select organization_id, id, 'ended', now() from ended`,
    [tenant.organization.id],
  );
  const warnings = () => readWarnings(tenant.em(), Date.now());
  expect(await rowsRead(tenant, 'api_keys', warnings)).toBe(1);
  expect(await rowsRead(tenant, 'api_keys', () => tenant.anotherKey())).toBeLessThan(10);
  const claim = async () => claimWarnings(tenant.em(), await warnings(), Date.now());
  expect(await rowsRead(tenant, 'key_warnings', claim)).toBe(0);
});
