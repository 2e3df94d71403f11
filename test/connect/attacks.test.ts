/** The attacks of RFC 9700 (Best Current Practice for OAuth 2.0 Security), one by one. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { isLive, listKeys } from '../../server/keys/list.ts';
import { waitingStatements } from '../locks.ts';
import { patientConnection } from '../patient.ts';
import { auditLog, otherSites, signIn, someone } from '../settings/visiting.ts';
import { marks, watchNormalized } from '../normalized.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';
import {
  agree,
  answerIn,
  linkedIn,
  asking,
  callback,
  connect,
  consentPath,
  exchange,
  fieldsOf,
  pathOf,
  postForm,
  postJson,
  quickClock,
  register,
  registration,
  s256,
  scene,
} from './scene.ts';

const world = useWorld({ clock: quickClock() });
const robots = async ({ em }: Tenant) => (await listKeys(em())).filter(({ name }) => name === 'Robot');
const liveRobots = async (tenant: Tenant) => (await robots(tenant)).filter((key) => isLive(key)).length;

describe('the request', () => {
  test('open redirect: a redirect URI that is not exactly the registered one is not even linked', async () => {
    const { visiting, clientId } = await scene(world);
    for (const redirectUri of [
      'https://evil.example/callback',
      `${callback}/`,
      `${callback}?next=https://evil.example`,
      `${callback}#x`,
      'https://agent.example:8443/callback',
      'https://agent.example/Callback',
      'https://agent.example/x/../callback',
      'https://agent.example@evil.example/callback',
      'http://agent.example/callback',
      'javascript:alert(1)',
      '',
    ]) {
      const ask = asking(clientId, { redirect_uri: redirectUri });
      const { status, location, text } = await visiting.get(pathOf(ask));
      expect([redirectUri, status, location]).toEqual([redirectUri, 400, null]);
      expect(text).not.toContain('Return to');
      const sent = await visiting.submit(consentPath, ask.parameters);
      expect([redirectUri, sent.status, sent.location]).toEqual([redirectUri, 400, null]);
    }
    const local = await register(world, { redirect_uris: ['http://localhost:4000/done'] });
    for (const redirectUri of [
      'http://localhost:4000/other',
      'http://localhost:4000/done#part',
      'http://localhost:4000/done?x',
      'http://ann@localhost:4000/done',
      'http://[',
      'nonsense',
    ]) {
      const { status } = await visiting.get(pathOf(asking(local, { redirect_uri: redirectUri })));
      expect([redirectUri, status]).toEqual([redirectUri, 400]);
    }
  });

  test('PKCE downgrade: a missing, “plain” or malformed challenge gets no consent page', async () => {
    const { visiting, clientId } = await scene(world);
    const downgrades: Record<string, string>[] = [
      { code_challenge: '', code_challenge_method: '' },
      { code_challenge: '' },
      { code_challenge_method: '' },
      { code_challenge_method: 'plain' },
      { code_challenge_method: 's256' },
      { code_challenge: 'short' },
      { code_challenge: 'a'.repeat(44) },
      { code_challenge: `${'a'.repeat(42)}=` },
    ];
    for (const changed of downgrades) {
      const answer = linkedIn(await visiting.get(pathOf(asking(clientId, changed))));
      expect([changed, answer.get('error'), answer.get('error_description')]).toEqual([
        changed,
        'invalid_request',
        expect.stringContaining('PKCE'),
      ]);
    }
  });

  test('clickjacking: no other site can frame the consent page', async () => {
    const { visiting, clientId } = await scene(world);
    const { headers } = await visiting.get(pathOf(asking(clientId)));
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    expect([headers.get('cache-control'), headers.get('referrer-policy')]).toEqual(['no-store', 'same-origin']);
  });

  test('CSRF on consent: a form from another site or session gets no code', async () => {
    const { tenant, visiting, clientId } = await scene(world);
    const stranger = await scene(world);
    const ask = asking(clientId);
    const fields = fieldsOf((await visiting.get(pathOf(ask))).text);
    for (const headers of otherSites) {
      const { status, location } = await visiting.post(consentPath, fields, headers);
      expect([headers, status, location]).toEqual([headers, 403, null]);
    }
    for (const csrfToken of ['', await stranger.visiting.csrfToken()])
      expect((await visiting.post(consentPath, { ...fields, csrfToken })).status).toBe(403);
    const { rowCount } = await world.database.pool.query('select from sign_in.codes where organization_id = $1', [
      tenant.organization.id,
    ]);
    expect(rowCount).toBe(0);
  });

  test('application names are escaped', async () => {
    const { visiting } = await scene(world);
    const clientId = await register(world, { client_name: '<script>alert(1)</script>' });
    const { text } = await visiting.get(pathOf(asking(clientId)));
    expect(text).toContain('&lt;script&gt;');
    expect(text).not.toContain('<script>alert');
  });
});

describe('the registration', () => {
  test('custom schemes, plain HTTP, and hosts that would break a CSP are rejected', async () => {
    for (const uri of [
      'cursor://anysphere.cursor/callback',
      'com.example.app:/callback',
      'javascript:alert(1)//https://a.example',
      'data:text/html,x',
      'file:///etc/passwd',
      'http://agent.example/callback',
      'http://127.0.0.1.evil.example/',
      'http://localhost.evil.example/',
      'https://user:password@agent.example/',
      'https://:password@agent.example/',
      'https://agent.example/#fragment',
      'https://agent.example;script-src/',
      'https://agent.example,evil/',
      'https://agent.example\\@evil.example/',
      ' https://agent.example/',
      '/callback',
      'https://agent.example/'.padEnd(501, 'x'),
    ]) {
      const { status, body } = await postJson(`${world.url}/oauth/register`, registration({ redirect_uris: [uri] }));
      expect([uri, status, body.error]).toEqual([uri, 400, 'invalid_redirect_uri']);
    }
    const longest = registration({ redirect_uris: ['https://agent.example/'.padEnd(500, 'x')] });
    expect((await postJson(`${world.url}/oauth/register`, longest)).status).toBe(201);
  });

  test('malformed requests are rejected with the protocol’s errors', async () => {
    for (const body of [[], {}, { redirect_uris: [] }, { redirect_uris: callback }, registration({ client_name: 7 })]) {
      const rejected = await postJson(`${world.url}/oauth/register`, body);
      expect([body, rejected.status, rejected.body.error]).toEqual([body, 400, 'invalid_client_metadata']);
    }
    const registerMany = async (uris: number, padding: number) => {
      const redirect_uris = Array.from({ length: uris }, (_, index) => `${callback}/${index}`.padEnd(padding, 'x'));
      return (await postJson(`${world.url}/oauth/register`, registration({ redirect_uris }))).body;
    };
    expect((await registerMany(10, 0)).redirect_uris).toHaveLength(10);
    for (const [uris, padding] of [
      [11, 0],
      [10, 120],
    ] as const)
      expect([uris, (await registerMany(uris, padding)).error]).toEqual([uris, 'invalid_client_metadata']);
  });

  test('with a name of combining marks is shortened before it is normalized, which would take seconds', async () => {
    const { longest } = watchNormalized();
    const { status, body } = await postJson(
      `${world.url}/oauth/register`,
      registration({ client_name: `Robot${marks}` }),
    );
    expect([status, body.client_name.length, body.client_name.slice(0, 4)]).toEqual([201, 80, 'Robo']);
    expect(longest()).toBeLessThan(1_000);
  });

  test('forged: an application that this service has not signed is rejected', async () => {
    const { visiting, clientId } = await scene(world);
    const [text = '', signature = ''] = clientId.split('.');
    const evil = Buffer.from(JSON.stringify({ n: 'Robot', r: ['https://evil.example/'], i: '' })).toString('base64url');
    for (const forged of [
      `${evil}.${signature}`,
      `${text}.`,
      text,
      `${clientId}.x`,
      `${text}.${signature.slice(0, -1)}A`,
      'x',
      '.',
    ]) {
      const { status, text: page } = await visiting.get(
        pathOf(asking(forged, { redirect_uri: 'https://evil.example/' })),
      );
      expect([forged, status, page.includes('Create key')]).toEqual([forged, 400, false]);
    }
  });
});

describe('a client_id with a different spelling', () => {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

  test('is not accepted, even if it decodes to the same bytes', async () => {
    const { visiting, clientId } = await scene(world);
    // 32 bytes leave two bits of 43 letters unused, so four last letters decode to the same bytes.
    const last = letters.indexOf(clientId.at(-1) ?? '');
    const others = letters.slice(last - (last % 4), last - (last % 4) + 4).replace(letters.charAt(last), '');
    const spellings = [...[...others].map((letter) => clientId.slice(0, -1) + letter), `${clientId}=`, `${clientId}\n`];
    const bytesIn = (id: string) => Buffer.from(id.split('.')[1] ?? '', 'base64url');
    for (const spelling of spellings) {
      expect(bytesIn(spelling)).toEqual(bytesIn(clientId));
      expect([spelling, (await visiting.get(pathOf(asking(spelling)))).status]).toEqual([spelling, 400]);
    }
    expect((await visiting.get(pathOf(asking(clientId)))).status).toBe(200);
  });
});

describe('a change of AUTH_SECRET', () => {
  const [before, after] = ['the secret that was used until now', 'the secret that is used from now on'];
  const rotated = useWorld({ clock: quickClock(), authSecret: `${after},${before}` });
  const old = useWorld({ clock: quickClock(), authSecret: before });

  test('keeps applications that registered before it', async () => {
    const { visiting } = await scene(rotated);
    expect((await visiting.get(pathOf(asking(await register(old))))).status).toBe(200);
    expect((await visiting.get(pathOf(asking(await register(world))))).status).toBe(400);
  });
});

describe('a network that keeps registering', () => {
  const still = useWorld({ clock: () => 0, trustedProxies: 1 });

  test('is rate limited, whichever of its addresses it uses', async () => {
    const registerFrom = async (address: string) => {
      const headers = { 'content-type': 'application/json', 'x-forwarded-for': address };
      const body = JSON.stringify(registration());
      return (await fetch(`${still.url}/oauth/register`, { method: 'POST', headers, body })).status;
    };
    const statuses: number[] = [];
    for (let count = 1; count <= 101; count += 1) statuses.push(await registerFrom(`2001:db8:1:2::${count}`));
    expect(statuses.filter((status) => status === 201)).toHaveLength(100);
    expect(statuses.at(-1)).toBe(429);
    expect(await registerFrom('2001:db8:1:3::1')).toBe(201);
  });
});

/** Makes the codes of an organization older. */
const age = ({ organization }: Tenant, seconds: number) =>
  world.database.pool.query(
    `update sign_in.codes set created_at = now() - interval '1 second' * $2 where organization_id = $1`,
    [organization.id, seconds],
  );

describe('the code', () => {
  // No cached key becomes old enough to be checked again.
  const still = useWorld({ clock: () => 0 });

  async function withCode(where = world) {
    const own = await scene(where);
    const ask = asking(own.clientId, { resource: `${where.url}/mcp` });
    return { ...own, ask, code: answerIn(await agree(own.visiting, ask)).get('code') ?? '' };
  }

  test('mix-up: the response names the same issuer as the metadata', async () => {
    const { visiting, clientId } = await scene(world);
    const ask = asking(clientId);
    const { issuer } = (await (await fetch(`${world.url}/.well-known/oauth-authorization-server`)).json()) as any;
    expect(answerIn(await agree(visiting, ask)).get('iss')).toBe(issuer);
    const cancel = /href="([^"]+)"[^>]*>Cancel and return/.exec((await visiting.get(pathOf(ask))).text)?.[1] ?? '';
    expect(cancel.replaceAll('&amp;', '&')).toBe(
      `${callback}?${new URLSearchParams({ error: 'access_denied', state: 'a state & more', iss: issuer }).toString()}`,
    );
  });

  test('code injection: a code without its verifier is rejected, but not used up', async () => {
    const { tenant, ask, code } = await withCode();
    const other = asking(ask.parameters.client_id ?? '').verifier;
    for (const code_verifier of ['', 'x', other, `${ask.verifier}x`, ask.parameters.code_challenge ?? ''])
      for (const redirect_uri of [callback, '']) {
        const changed = { code_verifier, redirect_uri };
        const { status, body } = await exchange(world, ask, code, changed);
        expect([changed, status, body.error]).toEqual([changed, 400, 'invalid_grant']);
      }
    expect(await robots(tenant)).toEqual([]);
    expect((await exchange(world, ask, code)).status).toBe(200);
  });

  test.each([
    ['-._~'.repeat(32), 200],
    ['a'.repeat(129), 400],
    ['a'.repeat(42), 400],
  ])('has a verifier of 43 to 128 characters: %s', async (verifier, status) => {
    const { visiting, clientId } = await scene(world);
    const ask = { ...asking(clientId, { code_challenge: s256(verifier) }), verifier };
    const code = answerIn(await agree(visiting, ask)).get('code') ?? '';
    const elsewhere = await exchange(world, ask, code, { resource: `${world.url}/mcp` });
    expect(elsewhere.body.error).toBe(status === 200 ? 'invalid_target' : 'invalid_grant');
    expect((await exchange(world, ask, code)).status).toBe(status);
  });

  test('is rejected for another application, redirect URI, resource or grant', async () => {
    const { tenant, ask, code } = await withCode();
    const wrong: [Record<string, string>, string][] = [
      [{ client_id: await register(world, { client_name: 'Other' }) }, 'invalid_grant'],
      [{ client_id: '' }, 'invalid_request'],
      [{ redirect_uri: 'https://agent.example/' }, 'invalid_grant'],
      [{ resource: `${world.url}/v1` }, 'invalid_target'],
      [{ grant_type: 'refresh_token' }, 'unsupported_grant_type'],
      [{ grant_type: '' }, 'invalid_request'],
      [{ code: 'x' }, 'invalid_grant'],
      [{ code: '' }, 'invalid_request'],
    ];
    for (const [changed, error] of wrong) {
      const { status, body } = await exchange(world, ask, code, changed);
      expect([changed, status, body.error]).toEqual([changed, 400, error]);
    }
    expect(await robots(tenant)).toEqual([]);
  });

  test('reuse: the second use is rejected, and revokes the key of the first', async () => {
    const { tenant, visiting, ask, code } = await withCode();
    const raw = (await exchange(world, ask, code)).body.access_token;
    // A use by another application does not count: it must not be able to revoke the key.
    const stranger = { client_id: await register(world, { client_name: 'Other' }) };
    expect((await exchange(world, ask, code, stranger)).body.error).toBe('invalid_grant');
    expect((await tenant.as(raw).call('GET', '/v1/me')).status).toBe(200);
    // A second use counts even with a wrong verifier, and even after the code's minute.
    await age(tenant, 120);
    const again = await exchange(world, ask, code, { code_verifier: 'x' });
    expect([again.status, again.body.error]).toEqual([400, 'invalid_grant']);
    expect((await tenant.as(raw).call('GET', '/v1/me')).body.code).toBe('api_key_revoked');
    expect(await auditLog(world, tenant)).toEqual(['key_created test', 'key_created Robot', 'key_revoked Robot']);
    const { text } = await visiting.get('/settings/api-keys');
    expect(text).toMatch(
      /The service<\/strong>\s*revoked API key <q>Robot<\/q>, because its authorization code was used twice/,
    );
  });

  test.each(['reuse', 'revocation'])('%s: the key is rejected at once, although keys are cached', async (how) => {
    const { tenant, clientId, ask, code } = await withCode(still);
    const raw = (await exchange(still, ask, code)).body.access_token;
    const meWithIt = () => tenant.as(raw).call('GET', '/v1/me');
    expect((await meWithIt()).status).toBe(200);
    if (how === 'reuse') await exchange(still, ask, code);
    else await postForm(`${still.url}/oauth/revoke`, { token: raw, client_id: clientId });
    expect((await meWithIt()).body.code).toBe('api_key_revoked');
  });

  test('concurrent reuse: no working key is left', async () => {
    const { tenant, ask, code } = await withCode();
    const holder = await patientConnection(world.database.pool);
    onTestFinished(holder.release);
    await holder.query(`begin; select from organizations where id = '${tenant.organization.id}' for update`);
    const sent = [1, 2, 3].map(() => exchange(world, ask, code));
    // Each has already found that the code has not created a key.
    const waiting = async () => (await waitingStatements(world.database)).filter((text) => /organizations/.test(text));
    await expect.poll(async () => (await waiting()).length).toBeGreaterThanOrEqual(3);
    await holder.query('rollback');
    const answers = await Promise.all(sent);
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    expect([(await robots(tenant)).length, await liveRobots(tenant)]).toEqual([1, 0]);
  });

  test('a statement that fails is not blamed on the code, which can be used again', async () => {
    const { tenant, ask, code } = await withCode();
    const holder = await patientConnection(world.database.pool);
    onTestFinished(holder.release);
    await holder.query(`begin; select from organizations where id = '${tenant.organization.id}' for update`);
    const sent = exchange(world, ask, code);
    // In a transaction, pg_stat_activity would never show a connection that is opened later.
    const cancel = `select pg_cancel_backend(pid) from pg_locks
      where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))`;
    await expect.poll(async () => (await holder.query(cancel)).rowCount).toBeGreaterThan(0);
    const { status, body } = await sent;
    expect([status, body.error]).toEqual([503, undefined]);
    await holder.query('rollback');
    expect((await exchange(world, ask, code)).status).toBe(200);
  });

  test.each([61, -61])('expires after a minute, even if the clock is set back: %i s', async (seconds) => {
    const { tenant, ask, code } = await withCode();
    await age(tenant, seconds);
    const { status, body } = await exchange(world, ask, code);
    expect([status, body]).toEqual([
      400,
      { error: 'invalid_grant', error_description: 'This code has expired. Connect again.' },
    ]);
    expect(await robots(tenant)).toEqual([]);
  });
});

describe('concurrent connections', () => {
  test('two admins get a key each, and neither replaces the other’s', async () => {
    const { tenant, visiting, clientId } = await scene(world);
    const other = await signIn(world, await someone(world, tenant, 'admin', 'Bo'));
    const keys = await Promise.all([visiting, other].map((each) => connect(world, each, asking(clientId))));
    for (const key of keys) expect((await tenant.as(key).call('GET', '/v1/me')).status).toBe(200);
    expect((await robots(tenant)).map(({ endsAt }) => endsAt)).toEqual([null, null]);
  });

  test('an admin in two tabs never creates a 26th key', async () => {
    const { tenant, visiting } = await scene(world);
    for (let count = 1; count < 24; count += 1) await tenant.anotherKey(`k${count}`);
    const asks = await Promise.all(
      ['A', 'B'].map(async (name) => asking(await register(world, { client_name: name }))),
    );
    const codes = await Promise.all(asks.map(async (ask) => answerIn(await agree(visiting, ask)).get('code') ?? ''));
    const answers = await Promise.all(asks.map((ask, index) => exchange(world, ask, codes[index] ?? '')));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400]);
    expect(answers.find(({ status }) => status === 400)?.body.error_description).toContain('at most 25');
  });
});
