import { describe, expect, test } from 'vitest';
import { storedId } from '../../server/records/public-id.ts';
import { expectComplete } from '../complete.ts';
import { operationAt, responseSchema } from '../contract.ts';
import { useWorld } from '../world.ts';

let nowMs = 1_000_000;
const world = useWorld({ clock: () => nowMs });

describe('GET /v1/me', () => {
  test('returns the organization, the key and the remaining rate limit', async () => {
    const { organization, anotherKey, as } = await world.organization({ name: 'Organization name', currency: 'EUR' });
    const key = await anotherKey('Key name');
    const { client } = as(key);
    const [createdAt, organizationCreatedAt] = ['2026-01-02T03:04:05.006Z', '2026-01-02T03:04:06.007Z'];
    const expiresAt = '2999-01-02T03:04:08.009Z';
    const { pool } = world.database;
    const { rows } = await pool.query<{ id: string }>(
      `update api_keys set created_at = $1, last_used_at = '2026-01-02T03:04:07.008Z', ends_at = $3
       where prefix = $2 and name = 'Key name' returning id`,
      [createdAt, key.slice(0, 12), expiresAt],
    );
    await pool.query('update organizations set created_at = $1 where id = $2', [
      organizationCreatedAt,
      organization.id,
    ]);
    world.serving.keys.forget();
    await client.me.get();
    nowMs += 10_000;
    const me = await client.me.get();
    expect(me).toEqual({
      label: 'Organization name (Key name)',
      plan: 'team',
      organization: {
        id: expect.stringMatching(/^org_/),
        name: 'Organization name',
        slug: organization.slug,
        currency: 'EUR',
        createdAt: organizationCreatedAt,
      },
      key: {
        id: expect.stringMatching(/^key_/),
        name: 'Key name',
        maskedKey: expect.stringMatching(new RegExp(`^${key.slice(0, 12)}.${key.slice(-4)}$`)),
        createdAt,
        lastUsedAt: expect.stringMatching(/^\d{4}-/),
        expiresAt,
      },
      rateLimit: { limit: 100, remaining: 98, windowSeconds: 60, resetSeconds: 50 },
    });
    expect(storedId('organization', me.organization.id)).toBe(organization.id);
    expect(storedId('key', me.key.id)).toBe(rows[0]?.id);
    const get = operationAt('GET', '/v1/me');
    expectComplete(me, get && responseSchema(get, 200));
  });

  test('returns when the key was last used', async () => {
    const { client, organization } = await world.organization();
    expect((await client.me.get()).key.expiresAt).toBeNull();
    const text = `select to_char(last_used_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at
      from api_keys where organization_id = $1`;
    const lastUsed = async () =>
      (await world.database.pool.query<{ at: string | null }>(text, [organization.id])).rows[0]?.at ?? null;
    // Written after the response; if that fails on a busy machine, with the next request.
    const usedAgain = async () => (await client.me.get()) && lastUsed();
    await expect.poll(usedAgain, { interval: 1000 }).not.toBeNull();
    world.serving.keys.forget();
    expect((await client.me.get()).key.lastUsedAt).toBe(await lastUsed());
  });
});
