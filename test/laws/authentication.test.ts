import { randomBytes } from 'node:crypto';
import type { QueryConfig } from 'pg';
import { describe, expect, test } from 'vitest';
import { v1 } from '../../contract/v1.ts';
import { ApiKey, Organization } from '../../server/entities/organization.ts';
import { operationsOf } from '../../contract/operations.ts';
import { hashKey } from '../../server/keys/authenticate.ts';
import { KeyDirectory } from '../../server/keys/directory.ts';
import { listKeys } from '../../server/keys/list.ts';
import { revokeKey } from '../../server/keys/revoke.ts';
import { agree, answerIn, asking, connect, exchange, postForm, scene } from '../connect/scene.ts';
import { useWorld } from '../world.ts';

const world = useWorld();
const fill = (path: string) => path.replace(/:\w+/, 'cus_01jzy3v1k8e2tb6qk3x5w9r7md');

describe('authentication', () => {
  for (const { method, path } of operationsOf(v1)) {
    test(`${method} ${path} needs a key`, async () => {
      const response = await fetch(world.url + fill(path), { method });
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe(
        `Bearer realm="api", resource_metadata="${world.url}/.well-known/oauth-protected-resource/v1"`,
      );
      expect(response.headers.get('ratelimit')).toBeNull();
      expect(await response.json()).toMatchObject({ code: 'api_key_missing', status: 401, errors: [] });
    });
  }

  const raw = `ak_live_${'ab'.repeat(32)}`;
  const mistakes: [string, Record<string, string>, string, RegExp][] = [
    ['an unknown key', { authorization: `Bearer ${raw}` }, 'api_key_invalid', /does not exist/],
    ['a doubled scheme', { authorization: `Bearer Bearer ${raw}` }, 'api_key_malformed', /twice/],
    ['a key without its scheme', { authorization: raw }, 'api_key_malformed', /Bearer is missing/],
    [
      'upper-case hex',
      { authorization: `Bearer ${raw.toUpperCase().replace('AK_LIVE', 'ak_live')}` },
      'api_key_malformed',
      /lower case/,
    ],
    ['Basic', { authorization: `Basic ${btoa(raw)}` }, 'api_key_malformed', /must be Bearer/],
    ['a word after the key', { authorization: `Bearer ${raw} x` }, 'api_key_malformed', /64 hexadecimal/],
    ['a short key', { authorization: 'Bearer ak_live_12' }, 'api_key_malformed', /64 hexadecimal/],
    ['an unset template variable', { authorization: 'Bearer {{apiKey}}' }, 'api_key_malformed', /placeholder/],
    ['a shell variable', { authorization: 'Bearer $API_KEY' }, 'api_key_malformed', /placeholder/],
    ['a Windows variable', { authorization: 'Bearer %API_KEY%' }, 'api_key_malformed', /placeholder/],
    ['a key to be filled in', { authorization: 'Bearer YOUR_API_KEY' }, 'api_key_malformed', /placeholder/],
    ['the key of the examples', { authorization: 'Bearer ak_live_your_key' }, 'api_key_malformed', /placeholder/],
    ['X-API-Key', { 'x-api-key': raw }, 'api_key_missing', /X-API-Key/],
  ];
  for (const [what, headers, code, hint] of mistakes) {
    test(`${what} is rejected with a hint and without an echo`, async () => {
      const response = await fetch(`${world.url}/v1/me`, { headers });
      const text = await response.text();
      expect(response.status).toBe(401);
      expect(JSON.parse(text)).toMatchObject({ code, detail: expect.stringMatching(hint) });
      expect(text).not.toContain('abababab');
      // RFC 6750 (3.1): no error if there was no token.
      const hasToken = (headers.authorization ?? '').toLowerCase().startsWith('bearer');
      const challenge = response.headers.get('www-authenticate') ?? '';
      expect(challenge.startsWith('Bearer realm="api", error="invalid_token", resource_metadata=')).toBe(hasToken);
      expect(challenge.includes('error=')).toBe(hasToken);
    });
  }

  test('a path that cannot be decoded needs a key like any other', async () => {
    expect((await fetch(`${world.url}/v1/customers/%ZZ`)).status).toBe(401);
  });

  test('a key in the URL is ignored, and the response says so', async () => {
    const names = ['api_key', 'apikey', 'access_token', 'token', 'key'];
    for (const query of [`x=${raw}`, ...names.map((name) => `${name}=secret`)]) {
      const response = await fetch(`${world.url}/v1/me?${query}`);
      expect(await response.json()).toMatchObject({ code: 'api_key_missing', detail: expect.stringMatching(/URL/) });
    }
    expect(JSON.stringify(world.log)).not.toContain(raw);
  });

  test('the scheme may have any case, and any space after it and after the key', async () => {
    const { key } = await world.organization();
    for (const sent of [`bearer  ${key}`, `BEARER\t${key}`, `Bearer\u00A0${key}\u00A0`]) {
      const response = await fetch(`${world.url}/v1/me`, { headers: { authorization: sent } });
      expect(response.status).toBe(200);
    }
  });

  test('a downgraded plan is 403, never 401, and the same key works again after the upgrade', async () => {
    const tenant = await world.organization({ plan: 'free' });
    const rejected = await tenant.call('GET', '/v1/customers');
    expect(rejected.body).toMatchObject({ status: 403, code: 'plan_required' });
    expect(rejected.headers.get('www-authenticate')).toBeNull();
    expect(rejected.headers.get('ratelimit')).toBe('"default";r=99;t=60');
    // Before anything else that is wrong with a request.
    for (const [method, path, body] of [
      ['GET', '/v1/nothing'],
      ['DELETE', '/v1/customers'],
      ['POST', '/v1/customers', { name: 1 }],
    ] as const)
      expect((await tenant.call(method, path, body)).body).toMatchObject({ code: 'plan_required' });
    const em = world.database.orm.em.fork();
    (await em.findOneOrFail(Organization, { id: tenant.organization.id })).plan = 'team';
    await em.flush();
    world.serving.keys.forget();
    expect((await tenant.call('GET', '/v1/customers')).status).toBe(200);
  });

  test('a live key with its last or any other character changed is unknown', async () => {
    const { key } = await world.organization();
    const another = (letter = '') => (letter === '0' ? '1' : '0');
    for (const at of [71, 70, 56, 40, 20, 8]) {
      const changed = key.slice(0, at) + another(key[at]) + key.slice(at + 1);
      const response = await fetch(`${world.url}/v1/me`, { headers: { authorization: `Bearer ${changed}` } });
      expect(response.status, `character ${at}`).toBe(401);
      expect(await response.json()).toMatchObject({ code: 'api_key_invalid' });
    }
    expect((await fetch(`${world.url}/v1/me`, { headers: { authorization: `Bearer ${key}` } })).status).toBe(200);
    expect(key).toHaveLength(72);
  });

  test('the database contains no raw key', async () => {
    const tenant = await world.organization();
    const { rows } = await world.database.pool.query('select * from api_keys');
    expect(JSON.stringify(rows)).not.toContain(tenant.key);
    expect(JSON.stringify(rows)).toContain(tenant.key.slice(-4));
  });
});

describe('while the clock stands still, so that nothing is read again', () => {
  const still = useWorld({ clock: () => 1_000_000 });
  type Scene = Awaited<ReturnType<typeof connected>>;

  /** A key that an application got with a code, and that this process has already seen. */
  async function connected() {
    const { tenant, visiting, clientId } = await scene(still);
    const ask = asking(clientId);
    const code = answerIn(await agree(visiting, ask)).get('code') ?? '';
    const raw: string = (await exchange(still, ask, code)).body.access_token;
    const me = async () => (await tenant.as(raw).call('GET', '/v1/me')).body;
    expect(await me()).toMatchObject({ key: { name: 'Robot', expiresAt: null } });
    const path = `/settings/api-keys/${(await me()).key.id}`;
    const submit = (action: string, fields = {}) => visiting.submit(`${path}/${action}`, fields);
    return { visiting, clientId, ask, code, raw, me, submit };
  }

  const revoked = { code: 'api_key_revoked' };
  const expiring = { key: { name: 'Robot', expiresAt: expect.any(String) } };
  const changes: Record<string, [change: (scene: Scene) => Promise<unknown>, after: object]> = {
    'a member renames': [({ submit }) => submit('rename', { name: 'Nightly' }), { key: { name: 'Nightly' } }],
    'a member replaces': [({ submit }) => submit('replace', { period: 'day' }), expiring],
    'a member revokes': [({ submit }) => submit('revoke'), revoked],
    'its application revokes': [
      ({ raw, clientId }) => postForm(`${still.url}/oauth/revoke`, { token: raw, client_id: clientId }),
      revoked,
    ],
    'someone uses the code of': [({ ask, code }) => exchange(still, ask, code), revoked],
    'its application connects again instead of': [
      ({ visiting, clientId }) => connect(still, visiting, asking(clientId)),
      expiring,
    ],
  };

  test.each(Object.entries(changes))('the next request knows that %s the key', async (_, [change, after]) => {
    const found = await connected();
    await change(found);
    expect(await found.me()).toMatchObject(after);
  });
});

describe('a key directory with a simulated clock', () => {
  let nowMs = 1_000_000;
  const clocked = useWorld({ ownDatabase: true, clock: () => nowMs });

  test('another process’s revocation takes effect within a second', async () => {
    const tenant = await clocked.organization();
    expect((await tenant.call('GET', '/v1/me')).status).toBe(200);
    const [key] = await listKeys(tenant.em());
    await revokeKey(tenant.em(), tenant.admin, key?.id ?? '');
    nowMs += 999;
    expect((await tenant.call('GET', '/v1/me')).status).toBe(401);
  });

  test.each(['this', 'another'])(
    'later requests do not use a lookup that began before a revocation by %s process',
    async (by) => {
      const tenant = await clocked.organization();
      const [wanted, known] = [hashKey(tenant.key), hashKey(await tenant.anotherKey())];
      const [began, held, verified] = [1, 2, 3].map(() => Promise.withResolvers<void>());
      const control = new Proxy(clocked.database.control, {
        get: (pool, name) => {
          const found: unknown = Reflect.get(pool, name);
          if (name !== 'query') return found;
          return async (statement: QueryConfig<string[][]>) => {
            const result = await pool.query(statement);
            if (statement.name === 'access-epoch') verified?.resolve();
            if (!statement.values?.[0]?.includes(wanted)) return result;
            began?.resolve();
            await held?.promise;
            return result;
          };
        },
      });
      const keys = new KeyDirectory(control, () => nowMs);
      await keys.find(known);
      const finding = keys.find(wanted);
      await began?.promise;
      const key = (await listKeys(tenant.em())).at(-1);
      await revokeKey(tenant.em(), tenant.admin, key?.id ?? '');
      if (by === 'this') keys.forget();
      else {
        // The epoch is read again for a known key.
        nowMs += 500;
        void keys.find(known);
        await verified?.promise;
        await new Promise(setImmediate);
      }
      held?.resolve();
      expect(await finding).toMatchObject({ id: key?.id, revokedAt: null });
      expect(await keys.find(wanted)).toMatchObject({ id: key?.id, revokedAt: expect.any(String) });
      await keys.close();
    },
  );

  test('a key ends by the clock of the database, also while a process sees no time pass, as on a machine that sleeps', async () => {
    const tenant = await clocked.organization();
    const text = `update api_keys set ends_at = now() + interval '30 days' where id = $1`;
    const [key] = await tenant.em().find(ApiKey, {});
    await clocked.database.pool.query(text, [key?.id]);
    let aheadMs = 0;
    const control = new Proxy(clocked.database.control, {
      get: (pool, name) => {
        const found: unknown = Reflect.get(pool, name);
        if (name !== 'query') return found;
        return async (statement: QueryConfig) => {
          const { rows } = await pool.query<{ nowMs: number }>(statement);
          return { rows: rows.map((row) => ({ ...row, nowMs: row.nowMs + aheadMs })) };
        };
      },
    });
    const keys = new KeyDirectory(control, () => nowMs);
    const find = async () => {
      nowMs += 500;
      return (await keys.find(hashKey(tenant.key)))?.revokedAt;
    };
    expect(await find()).toBeNull();
    aheadMs = 40 * 86_400_000;
    expect(await find()).toEqual(expect.any(String));
    // The clock was wrong: the key works as soon as it is right.
    aheadMs = 0;
    expect(await find()).toBeNull();
    await keys.close();
  });

  test('an unchanged key costs one statement per half second, not one per request', async () => {
    const tenant = await clocked.organization();
    await tenant.call('GET', '/v1/me');
    const statements = await counted(() => tenant.call('GET', '/v1/me'));
    expect(statements).toEqual([]);
    nowMs += 500;
    expect(await counted(() => tenant.call('GET', '/v1/me'))).toEqual([expect.stringMatching(/from access_epoch e$/)]);
  });

  test('a flood of unknown keys is looked up one statement at a time, and delays no valid key of its network', async () => {
    const tenant = await clocked.organization();
    const unknown = Array.from({ length: 300 }, () => `ak_live_${randomBytes(32).toString('hex')}`);
    const keys = [...unknown.slice(0, 150), tenant.key, ...unknown.slice(150)];
    const statuses: number[] = [];
    const statements = await counted(async () => {
      const ask = async (key: string) => {
        const { status } = await fetch(`${clocked.url}/v1/me`, { headers: { authorization: `Bearer ${key}` } });
        statuses.push(status);
        return status;
      };
      const answers = await Promise.all(keys.map(ask));
      expect(answers[150]).toBe(200);
    });
    expect(statuses.filter((status) => status === 401)).toHaveLength(300);
    expect(statements.length).toBeLessThan(300);
    // Not even after a change to any key, when everything known is looked up again.
    clocked.serving.keys.forget();
    await Promise.all(
      unknown.map((key) => fetch(`${clocked.url}/v1/me`, { headers: { authorization: `Bearer ${key}` } })),
    );
    expect((await tenant.call('GET', '/v1/me')).status).toBe(200);
  });

  test('at most 5,000 unknown keys are remembered', async () => {
    const keys = new KeyDirectory(clocked.database.control, () => nowMs);
    const hashes = Array.from({ length: 5_001 }, () => hashKey(randomBytes(8).toString('hex')));
    const [first = '', last = ''] = [hashes[0], hashes.pop()];
    const isKnown = async () => (await counted(() => keys.find(first))).length === 0;
    await Promise.all(hashes.map((hash) => keys.find(hash)));
    expect(await isKnown()).toBe(true);
    await keys.find(last);
    expect(await isKnown()).toBe(false);
  });

  test('a failed lookup does not make a key unknown', async () => {
    const away = () => Promise.reject(new Error('Connection terminated'));
    const keys = new KeyDirectory(Object.assign(Object.create(clocked.database.control), { query: away }), () => nowMs);
    await expect(keys.find(hashKey('any'))).rejects.toThrow('Connection terminated');
  });

  async function counted(work: () => Promise<unknown>): Promise<string[]> {
    const texts: string[] = [];
    const { control: pool } = clocked.database;
    const original = pool.query;
    // The pool is watched, not replaced: every statement still runs.
    pool.query = function watched(this: unknown, ...words: unknown[]) {
      const [statement] = words;
      const text = typeof statement === 'string' ? statement : String(Reflect.get(Object(statement), 'text'));
      // The last uses of keys are written periodically.
      if (!text.startsWith('update')) texts.push(text);
      return Reflect.apply(original, pool, words);
    } as typeof pool.query;
    await work();
    pool.query = original;
    return texts;
  }
});
