/** The time of the last use is written only for keys that were used. */
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { toRfc3339 } from '../../server/entities/timestamp.ts';
import { LastUses } from '../../server/keys/last-uses.ts';
import { listKeys } from '../../server/keys/list.ts';
import { serve } from '../../server/commands/serve/server.ts';
import { breakablePool } from '../breakable-pool.ts';
import { useWorld } from '../world.ts';

const world = useWorld();

/** Four keys of two organizations, as the key directory would have read them. */
async function scene() {
  const tenants = [await world.organization(), await world.organization()];
  for (const tenant of tenants) await tenant.anotherKey();
  const found = await Promise.all(
    tenants.map(async ({ em, organization }) => (await listKeys(em())).map(({ id }) => ({ id, organization }))),
  );
  const keys = found.flat().map((key) => ({ ...key, lastUsedAt: null as string | null }));
  const ids = keys.map(({ id }) => id);
  const stored = async () => {
    const text = `select last_used_at::text as at from api_keys k join unnest($1::uuid[]) with ordinality as one (id, place)
      on one.id = k.id order by one.place`;
    const { rows } = await world.database.pool.query<{ at: string | null }>(text, [ids]);
    return rows.map(({ at }) => at && toRfc3339(at));
  };
  return { keys, stored };
}

describe('the time of the last use', () => {
  test.each([[[0]], [[1, 2]], [[3, 0]], [[0, 1, 2, 3]]])('is stored and shown only for the keys %j', async (used) => {
    const { keys, stored } = await scene();
    const uses = new LastUses(world.database.pool, () => 0);
    for (const index of used) {
      const key = keys[index];
      if (key) uses.note(key);
    }
    await uses.write();
    const times = await stored();
    expect(times.map((at) => at !== null)).toEqual(keys.map((_, index) => used.includes(index)));
    expect(keys.map(({ lastUsedAt }) => lastUsedAt)).toEqual(times);
  });

  test('is replaced if it is from before the clock of the database was set back', async () => {
    const { keys, stored } = await scene();
    const [key] = keys;
    if (!key) throw new Error('Four keys.');
    const ahead = `update api_keys set last_used_at = now() + interval '2 days' where id = $1`;
    await world.database.pool.query(ahead, [key.id]);
    const uses = new LastUses(world.database.pool, () => 0);
    uses.note(key);
    await uses.write();
    const [at] = await stored();
    expect(Date.parse(at ?? '') - Date.now()).toBeLessThan(60_000);
    expect(key.lastUsedAt).toBe(at);
  });

  test('that another process has just stored is kept, and does not end up on another key', async () => {
    const { keys, stored } = await scene();
    const [recent, other] = keys;
    if (!recent || !other) throw new Error('Four keys.');
    const before = `update api_keys set last_used_at = now() - interval '10 seconds' where id = $1`;
    await world.database.pool.query(before, [recent.id]);
    const [known = null] = await stored();
    recent.lastUsedAt = known;
    const uses = new LastUses(world.database.pool, () => 0);
    uses.note(recent);
    uses.note(other);
    await uses.write();
    expect(recent.lastUsedAt).toBe(known);
    expect(keys.map(({ lastUsedAt }) => lastUsedAt)).toEqual(await stored());
    expect(other.lastUsedAt).not.toBe(known);
  });

  test('is stored before the server has stopped', async () => {
    const { key, em } = await world.organization();
    const { database } = world;
    const serving = await serve({ database, log: () => undefined, host: '127.0.0.1', port: 0 });
    // Its timer never fires.
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    await fetch(`${serving.url}/v1/me`, { headers: { authorization: `Bearer ${key}` } });
    vi.useRealTimers();
    await serving.close();
    expect((await listKeys(em())).map(({ lastUsedAt }) => lastUsedAt)).not.toContain(null);
  });

  test('that could not be stored is stored with the next use', async () => {
    const { keys, stored } = await scene();
    const [key] = keys;
    if (!key) throw new Error('Four keys.');
    let isBroken = true;
    const pool = breakablePool(world.database.pool, () => isBroken);
    const uses = new LastUses(pool, () => 0);
    uses.note(key);
    await uses.write();
    expect((await stored())[0]).toBeNull();
    isBroken = false;
    uses.note(key);
    await uses.write();
    expect((await stored())[0]).not.toBeNull();
  });
});
