import { describe, expect, test } from 'vitest';
import { ApiKey } from '../../server/entities/organization.ts';
import { isLive, listKeys } from '../../server/keys/list.ts';
import { maximumLiveKeys } from '../../server/keys/issue.ts';
import { publicId } from '../../server/records/public-id.ts';
import { useWorld } from '../world.ts';
import { auditLog, signIn, someone } from './visiting.ts';

let laterMs = 0;
// In a shared one, a change to any organization's key makes the process reread every key, by the real time.
const world = useWorld({ ownDatabase: true, clock: () => performance.now() + laterMs });
const rawKey = /ak_live_[0-9a-f]{64}/;
const hourMs = 3_600_000;

async function scene() {
  const tenant = await world.organization();
  const visiting = await signIn(world, await someone(world, tenant, 'admin', 'Ann Lee'));
  const [key] = await listKeys(tenant.em());
  const keyPath = `/settings/api-keys/${publicId('key', key?.id ?? '')}`;
  const replace = async (period: string, csrfToken?: string) =>
    visiting.post(`${keyPath}/replace`, { period, csrfToken: csrfToken ?? (await visiting.csrfToken()) });
  return { tenant, visiting, keyPath, replace };
}

describe('replacing a key', () => {
  test('creates a successor with the same name, and the old key ends when its period is over', async () => {
    const { tenant, visiting, replace } = await scene();
    const connection = { clientId: 'client-1', clientHost: 'app.example' };
    await tenant.em().nativeUpdate(ApiKey, {}, connection);
    const response = await replace('hour');
    expect(response.status).toBe(201);
    // The successor belongs to the same application.
    expect(await listKeys(tenant.em())).toMatchObject([connection, connection]);
    const [raw = ''] = rawKey.exec(response.text) ?? [];
    const successor = tenant.as(raw);
    expect((await successor.call('GET', '/v1/me')).body.key.name).toBe('test');
    expect((await tenant.call('GET', '/v1/me')).status).toBe(200);
    const [, old] = await listKeys(tenant.em());
    expect(Date.parse(old?.endsAt ?? '') - Date.now()).toBeGreaterThan(0.9 * hourMs);
    const page = (await visiting.get('/settings/api-keys')).text;
    expect(page).toContain('works until <time');
    expect(page).toContain('2 of 25');
    expect(page).not.toMatch(rawKey);
    expect(await auditLog(world, tenant)).toEqual(['key_created test', 'key_replaced test']);

    await world.database.pool.query('update api_keys set ends_at = now() where id = $1', [old?.id]);
    laterMs += 1_000;
    const ended = await tenant.call('GET', '/v1/me');
    expect([ended.status, ended.body.code]).toEqual([401, 'api_key_revoked']);
    expect((await successor.call('GET', '/v1/me')).status).toBe(200);
  });

  test('does not extend the life of a key that expires before its period is over', async () => {
    for (const [hours, period] of [
      [12, 'day'],
      [36, 'hour'],
    ] as const) {
      const { tenant, replace } = await scene();
      const [key] = await listKeys(tenant.em());
      const expires = `update api_keys set ends_at = now() + $2 * interval '1 hour' where id = $1`;
      await world.database.pool.query(expires, [key?.id, hours]);
      const lifetime = async () => {
        const { endsAt } = await tenant.em().findOneOrFail(ApiKey, { id: key?.id ?? '' });
        return Math.round((Date.parse(endsAt ?? '') - Date.now()) / hourMs);
      };
      expect((await replace(period)).status).toBe(201);
      expect([period, await lifetime()]).toEqual([period, period === 'day' ? 12 : 1]);
    }
  });

  test('rejects the old key after its period even if it is cached, and lists it as replaced', async () => {
    const { tenant, visiting, keyPath, replace } = await scene();
    await tenant.call('GET', '/v1/me');
    await replace('week');
    await world.database.pool.query(
      `update api_keys set ends_at = now() - interval '1 minute' where organization_id = $1 and ends_at is not null`,
      [tenant.organization.id],
    );
    laterMs += 1000;
    const { body } = await tenant.call('GET', '/v1/me');
    const detail = 'This API key was revoked or replaced. Use the key that replaced it, or create another';
    expect(body).toMatchObject({ status: 401, detail: expect.stringContaining(detail) });
    expect((await visiting.get('/settings/api-keys')).text).toMatch(/Replaced<\/span>\s*<small>stopped working/);
    const page = (await visiting.get(keyPath)).text;
    expect(page).toContain('Replaced</span>');
    expect(page).toContain('An admin of the organization revoked or replaced the key,');
  });

  test('happens once per form, and once per key', async () => {
    const { tenant, visiting, replace } = await scene();
    const csrfToken = await visiting.csrfToken();
    const statuses = await Promise.all([1, 2].map(async () => (await replace('day', csrfToken)).status));
    expect(statuses.toSorted()).toEqual([201, 409]);
    const again = await replace('day');
    expect([again.status, again.text.includes('already been replaced')]).toEqual([409, true]);
    expect(again.text).toContain('<h1>This page is out of date</h1>');
    expect((await listKeys(tenant.em())).filter((key) => isLive(key))).toHaveLength(2);
  });

  test('needs a period, a live key, room for one more and the Team plan', async () => {
    const { tenant, visiting, keyPath, replace } = await scene();
    expect((await replace('for ever')).status).toBe(422);
    for (let count = 1; count < maximumLiveKeys; count += 1) await tenant.anotherKey(`k${count}`);
    expect((await replace('day')).status).toBe(422);
    await visiting.submit(`${keyPath}/revoke`);
    expect((await replace('day')).status).toBe(409);
    await world.database.pool.query(`update organizations set plan = 'free' where id = $1`, [tenant.organization.id]);
    expect((await replace('day')).status).toBe(403);
  });
});

test('a name that another live key already has is pointed out', async () => {
  const { visiting } = await scene();
  const create = async (name: string) => (await visiting.submit('/settings/api-keys', { name })).text;
  expect(await create('test')).toContain('Another live key is also named “test”.');
  expect(await create('Something else')).not.toContain('Another live key');
});
