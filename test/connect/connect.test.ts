import { describe, expect, test } from 'vitest';
import { addMember } from '../../server/accounts/members.ts';
import { removeOrganization } from '../../server/accounts/organizations.ts';
import { listKeys } from '../../server/keys/list.ts';
import { maximumLiveKeys } from '../../server/keys/issue.ts';
import { publicId } from '../../server/records/public-id.ts';
import { auditLog, givePassword, signIn, someone, visit } from '../settings/visiting.ts';
import { useWorld } from '../world.ts';
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
  scene,
} from './scene.ts';

const world = useWorld({ clock: quickClock() });
const json = async (path: string) => {
  const response = await fetch(world.url + path);
  return { status: response.status, headers: response.headers, body: (await response.json()) as any };
};

describe('discovery', () => {
  test('a 401 links to the metadata of its resource, which names the authorization server', async () => {
    for (const path of ['/v1/customers', '/mcp']) {
      const resource = path.startsWith('/mcp') ? '/mcp' : '/v1';
      const { status, headers } = await fetch(world.url + path, { method: resource === '/mcp' ? 'POST' : 'GET' });
      const url = `${world.url}/.well-known/oauth-protected-resource${resource}`;
      expect([status, headers.get('www-authenticate')]).toEqual([
        401,
        `Bearer realm="api", resource_metadata="${url}"`,
      ]);
      const described = await json(url.slice(world.url.length));
      expect(described.headers.get('access-control-allow-origin')).toBe('*');
      expect(described.headers.get('cache-control')).toBe('public, max-age=300');
      expect(described.body).toMatchObject({
        resource: world.url + resource,
        authorization_servers: [world.url],
        bearer_methods_supported: ['header'],
      });
    }
    expect((await json('/.well-known/oauth-protected-resource')).body.resource).toBe(world.url);
    expect((await json('/.well-known/oauth-protected-resource/settings')).status).toBe(404);
  });

  test('the authorization server offers codes with PKCE (S256), and only to public clients', async () => {
    const { body } = await json('/.well-known/oauth-authorization-server');
    expect(body).toEqual({
      issuer: world.url,
      authorization_endpoint: `${world.url}${consentPath}`,
      token_endpoint: `${world.url}/oauth/token`,
      registration_endpoint: `${world.url}/oauth/register`,
      revocation_endpoint: `${world.url}/oauth/revoke`,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
      service_documentation: `${world.url}/docs/agents`,
    });
  });
});

describe('connecting', () => {
  test('creates a key that is named after the application, and works in /v1 and /mcp', async () => {
    const { tenant, visiting, clientId } = await scene(world);
    const ask = asking(clientId, { resource: `${world.url}/mcp` });
    const page = await visiting.get(pathOf(ask));
    expect(page.status).toBe(200);
    for (const told of ['Connect Robot?', 'Acme', 'agent.example', 'Not verified', 'Ann Lee', 'Create key and connect'])
      expect(page.text).toContain(told);
    const agreed = await agree(visiting, ask);
    expect([agreed.status, agreed.headers.get('referrer-policy')]).toEqual([303, 'no-referrer']);
    const answer = answerIn(agreed);
    expect(agreed.location?.startsWith(`${callback}?code=`)).toBe(true);
    expect([answer.get('state'), answer.get('iss')]).toEqual(['a state & more', world.url]);
    const { status, headers, body } = await exchange(world, ask, answer.get('code') ?? '', {
      resource: `${world.url}/mcp`,
    });
    expect([status, body.token_type]).toEqual([200, 'Bearer']);
    expect([headers.get('cache-control'), headers.get('pragma')]).toEqual(['no-store', 'no-cache']);
    expect(Object.keys(body)).toEqual(['access_token', 'token_type']);
    const connected = tenant.as(body.access_token);
    expect((await connected.call('GET', '/v1/me')).body).toMatchObject({ key: { name: 'Robot' } });
    const tools = await fetch(`${world.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${body.access_token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
    expect(tools.status).toBe(200);
    const keysPage = (await visiting.get('/settings/api-keys')).text;
    expect(keysPage).toMatch(/Ann Lee\s*<small>by connecting agent\.example<\/small>/);
    expect(keysPage).not.toContain(body.access_token);
    expect(await auditLog(world, tenant)).toEqual(['key_created test', 'key_created Robot']);
  });

  test('leaves neither the code nor the key in the database or the log', async () => {
    const { visiting, clientId } = await scene(world);
    const ask = asking(clientId);
    const code = answerIn(await agree(visiting, ask)).get('code') ?? '';
    const { body } = await exchange(world, ask, code);
    const tables = await world.database.pool.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('public', 'sign_in')`,
    );
    for (const secret of [code, body.access_token.slice(12, -4)]) {
      for (const { name } of tables.rows) {
        const found = await world.database.pool.query(`select from ${name} as t where t::text like '%' || $1 || '%'`, [
          secret,
        ]);
        expect([name, found.rowCount]).toEqual([name, 0]);
      }
      expect(JSON.stringify(world.log)).not.toContain(secret);
    }
  });

  test('starts with sign-in, which leads back to the consent page', async () => {
    const { tenant, clientId } = await scene(world);
    const admin = await someone(world, tenant, 'admin');
    const ask = asking(clientId);
    const nobody = visit(world.url);
    const sent = await nobody.get(pathOf(ask));
    const next = new URL(sent.location ?? '', world.url).searchParams.get('next') ?? '';
    expect([sent.status, next]).toEqual([303, pathOf(ask)]);
    const page = await nobody.get(sent.location ?? '');
    expect(page.headers.get('cross-origin-opener-policy')).toBe('unsafe-none');
    expect(page.text).toContain('to connect an application');
    const signedIn = await nobody.post('/settings/sign-in', {
      email: admin.email,
      password: 'correct horse battery',
      next,
    });
    expect([signedIn.status, signedIn.location]).toEqual([303, pathOf(ask)]);
    expect((await nobody.get(signedIn.location ?? '')).text).toContain('Create key and connect');
    const stale = await nobody.post(pathOf(ask), { csrfToken: 'of an earlier session' });
    expect([stale.status, stale.headers.get('cross-origin-opener-policy')]).toEqual([403, 'unsafe-none']);
  });

  test('creates a key with the lifetime that the admin chose', async () => {
    const { visiting, clientId } = await scene(world);
    const ask = asking(clientId);
    const code = answerIn(await agree(visiting, ask, { expires: '30' })).get('code') ?? '';
    expect((await exchange(world, ask, code)).body.expires_in).toBe(30 * 86_400);
    expect((await agree(visiting, ask, { expires: '31' })).status).toBe(422);
  });

  test('again replaces only this admin’s key for this application', async () => {
    const { tenant, visiting, clientId } = await scene(world);
    const other = await signIn(world, await someone(world, tenant, 'admin', 'Bo'));
    const [first, ofOther] = [
      await connect(world, visiting, asking(clientId)),
      await connect(world, other, asking(clientId)),
    ];
    const stranger = await connect(world, visiting, asking(await register(world, { client_name: 'Other' })));
    expect((await visiting.get(pathOf(asking(clientId)))).text).toContain('The new key replaces “Robot”');
    const second = await connect(world, visiting, asking(clientId));
    for (const key of [first, second, ofOther, stranger])
      expect((await tenant.as(key).call('GET', '/v1/me')).status).toBe(200);
    const keys = await listKeys(tenant.em());
    const ending = keys.filter(({ endsAt }) => endsAt !== null);
    expect(ending.map(({ prefix }) => prefix)).toEqual([first.slice(0, 12)]);
    const hours = (Date.parse(ending[0]?.endsAt ?? '') - Date.now()) / 3_600_000;
    expect(Math.round(hours)).toBe(24);
    expect((await auditLog(world, tenant)).at(-1)).toBe('key_replaced Robot');
    // Neither a key that has already been replaced, nor one that has expired.
    for (let count = 0; count < 2; count += 1) await connect(world, visiting, asking(clientId));
    const expire = 'update api_keys set ends_at = now() where organization_id = $1 and replaced_by is null';
    await world.database.pool.query(expire, [tenant.organization.id]);
    await connect(world, visiting, asking(clientId));
    expect((await auditLog(world, tenant)).slice(-2)).toEqual(['key_replaced Robot', 'key_created Robot']);
  });

  test('again shows the host that gets the new key', async () => {
    const { tenant, visiting } = await scene(world);
    const clientId = await register(world, { redirect_uris: [callback, 'https://new.example/callback'] });
    for (const redirect_uri of [callback, 'https://new.example/callback'])
      await connect(world, visiting, asking(clientId, { redirect_uri }));
    const hosts = (await listKeys(tenant.em())).flatMap(({ clientHost }) => clientHost ?? []);
    expect(hosts.toSorted()).toEqual(['agent.example', 'new.example']);
  });

  test.each(['127.0.0.1', '[::1]'])(
    'lets a program on the person’s computer listen on any port of %s',
    async (host) => {
      const { visiting } = await scene(world);
      const clientId = await register(world, { redirect_uris: [`http://${host}:4000/done`] });
      const ask = asking(clientId, { redirect_uri: `http://${host}:51234/done` });
      const page = await visiting.get(pathOf(ask));
      expect(page.text).toContain(`a program on this computer <small>(${host})</small>`);
      const { location } = await agree(visiting, ask);
      expect(location?.startsWith(`http://${host}:51234/done?code=`)).toBe(true);
    },
  );

  test('with TLS on the person’s computer works only on the registered port', async () => {
    const { visiting } = await scene(world);
    const redirect = 'https://localhost:4000/done';
    const clientId = await register(world, { redirect_uris: [redirect] });
    const ask = asking(clientId, { redirect_uri: redirect });
    expect((await agree(visiting, ask)).location).toMatch(/^https:\/\/localhost:4000\/done\?code=/);
    for (const other of ['https://localhost:4001/done', 'https://localhost/done', 'http://localhost:4000/done'])
      expect((await visiting.get(pathOf(asking(clientId, { redirect_uri: other })))).status).toBe(400);
  });

  test('does not require the redirect URI with the code, as in OAuth 2.1', async () => {
    const { visiting, clientId } = await scene(world);
    // Some clients append a slash to the resource, with or without the code.
    const resource = `${world.url}/mcp`;
    for (const [asked, exchanged] of [
      [`${resource}/`, ''],
      [`${resource}/`, resource],
      [resource, `${resource}/`],
    ] as const) {
      const ask = asking(clientId, { resource: asked });
      const code = answerIn(await agree(visiting, ask)).get('code') ?? '';
      expect((await exchange(world, ask, code, { redirect_uri: '', resource: exchanged })).status).toBe(200);
    }
  });

  test('treats an empty parameter as missing', async () => {
    const { visiting, clientId } = await scene(world);
    const { status, text } = await visiting.get(`${pathOf(asking(clientId))}&response_mode=&resource=`);
    expect(status).toBe(200);
    expect(text).toContain('Create key and connect');
  });

  test('lets someone with several organizations choose one, and connects only the one that was shown', async () => {
    const { tenant, clientId } = await scene(world);
    const second = await world.organization({ name: 'Second' });
    const member = await someone(world, tenant, 'admin', 'Ann Lee');
    const { email, name } = member;
    await givePassword(world, await addMember(world.database, second.organization, { email, name, role: 'admin' }));
    const visiting = await signIn(world, member);
    const ask = asking(clientId);
    const shown = (await visiting.get(pathOf(ask))).text;
    const [, next = ''] = /name="next" value="([^"]*)"/.exec(shown) ?? [];
    const switched = await visiting.post('/settings/organization', {
      csrfToken: fieldsOf(shown).csrfToken ?? '',
      organization: publicId('organization', second.organization.id),
      next: next.replaceAll('&amp;', '&'),
    });
    expect((await visiting.get(switched.location ?? '')).text).toContain('Create key and connect');
    const stale = await visiting.post(consentPath, fieldsOf(shown));
    expect([stale.status, stale.text.includes('You have switched to Second')]).toEqual([409, true]);
    // The browser opens the URL of the form when it reloads a rejected one.
    const [, action = ''] = /action="(\/settings\/connect[^"]*)"/.exec(shown) ?? [];
    expect((await visiting.get(action.replaceAll('&amp;', '&'))).text).toContain('Create key and connect');
    const raw = await connect(world, visiting, ask);
    expect((await tenant.as(raw).call('GET', '/v1/me')).body.organization.name).toBe('Second');
  });
});

describe('connecting is rejected for', () => {
  test('a member, who is told whom to ask', async () => {
    const { tenant, clientId } = await scene(world);
    const member = await signIn(world, await someone(world, tenant, 'member', 'Mo'));
    const { text } = await member.get(pathOf(asking(clientId)));
    expect(text).toMatch(/Only admins of Acme can connect applications[\s\S]*Ann Lee \(/);
    expect(text).not.toContain('Create key and connect');
    const { parameters } = asking(clientId);
    const sent = await member.submit(consentPath, parameters);
    expect(sent.status).toBe(403);
    expect((await auditLog(world, tenant)).at(-1)).toBe('key_created rejected: role');
  });

  test('an organization on the Free plan, which is told why', async () => {
    const { visiting, clientId } = await scene(world, { plan: 'free' });
    const ask = asking(clientId);
    const { text } = await visiting.get(pathOf(ask));
    expect(text).toContain('API keys and API access need the Team plan. Acme is on the Free plan');
    expect(text).not.toContain('Create key and connect');
    const { parameters } = ask;
    const sent = await visiting.submit(consentPath, parameters);
    expect(sent.location).toBeNull();
  });

  test('an organization with 25 keys', async () => {
    const { tenant, visiting, clientId } = await scene(world);
    for (let count = 1; count < maximumLiveKeys; count += 1) await tenant.anotherKey(`k${count}`);
    const sent = await agree(visiting, asking(clientId), { expires: '30' });
    expect([sent.status, sent.text.includes('Revoke one first')]).toEqual([422, true]);
    expect(sent.text).toMatch(/<option value="30"\s+selected/);
  });

  test('an admin who was demoted, or whose plan ended, between consent and exchange', async () => {
    for (const [statement, sentence] of [
      [`update members set role = 'member' where organization_id = $1`, 'Only admins'],
      [`update organizations set plan = 'free' where id = $1`, 'Team plan'],
    ] as const) {
      const { tenant, visiting, clientId } = await scene(world);
      const ask = asking(clientId);
      const code = answerIn(await agree(visiting, ask)).get('code') ?? '';
      await world.database.pool.query(statement, [tenant.organization.id]);
      const { status, body } = await exchange(world, ask, code);
      expect([status, body.error]).toEqual([400, 'invalid_grant']);
      expect(body.error_description).toContain(sentence);
    }
  });
});

describe('revocation', () => {
  test('by an admin in API Keys is reported to the application immediately', async () => {
    const { tenant, visiting, clientId } = await scene(world);
    const connected = tenant.as(await connect(world, visiting, asking(clientId)));
    const key = (await listKeys(tenant.em())).find(({ name }) => name === 'Robot');
    const path = `/settings/api-keys/${publicId('key', key?.id ?? '')}/revoke`;
    await visiting.submit(path);
    const { status, body } = await connected.call('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' });
    expect([status, body.detail]).toEqual([401, expect.stringContaining('This API key was revoked or replaced.')]);
  });

  test('by the application itself works only for its own key', async () => {
    const { tenant, visiting, clientId } = await scene(world);
    const raw = await connect(world, visiting, asking(clientId));
    const revoke = (fields: Record<string, string>) => postForm(`${world.url}/oauth/revoke`, fields);
    expect((await revoke({ token: raw, client_id: await register(world, { client_name: 'Other' }) })).status).toBe(400);
    expect((await revoke({ token: tenant.key, client_id: clientId })).status).toBe(400);
    expect((await revoke({ token: tenant.key, client_id: '' })).status).toBe(400);
    // Some clients parse the body, which the standard leaves empty.
    const revoked = { status: 200, headers: expect.any(Headers), body: {} };
    expect(await revoke({ token: raw, client_id: clientId })).toEqual(revoked);
    expect(await revoke({ token: raw, client_id: clientId })).toEqual(revoked);
    expect(await revoke({ token: 'unknown', client_id: clientId })).toEqual(revoked);
    expect((await tenant.as(raw).call('GET', '/v1/me')).body.code).toBe('api_key_revoked');
    expect((await tenant.call('GET', '/v1/me')).status).toBe(200);
    const { text } = await visiting.get('/settings/api-keys');
    expect(text).toMatch(/The application<\/strong>\s*revoked/);
    expect(text).not.toContain('authorization code');
  });
});

describe('an invalid request from a known application', () => {
  const wrong: [why: string, changed: Record<string, string>, error: string, more?: string][] = [
    ['no response_type', { response_type: '' }, 'invalid_request'],
    ['a different response_type', { response_type: 'token' }, 'unsupported_response_type'],
    ['several response types', { response_type: 'code id_token' }, 'unsupported_response_type'],
    ['a different response_mode', { response_mode: 'form_post' }, 'invalid_request'],
    ['no code_challenge', { code_challenge: '' }, 'invalid_request'],
    ['a different resource', { resource: 'https://other.example/mcp' }, 'invalid_target'],
    ['a resource that leads elsewhere', { resource: 'http://localhost/mcp/../settings' }, 'invalid_target'],
    ['a parameter that is too long', { resource: 'x'.repeat(501) }, 'invalid_request'],
    ...['response_type', 'code_challenge', 'code_challenge_method', 'response_mode', 'resource'].map(
      (name): [string, Record<string, string>, string, string] => [
        `${name} twice`,
        {},
        'invalid_request',
        `&${name}=x&${name}=y`,
      ],
    ),
  ];
  test.each(wrong)('is reported to its redirect URI on return: %s', async (_, changed, error, more = '') => {
    const { visiting, clientId } = await scene(world);
    const page = await visiting.get(pathOf(asking(clientId, changed)) + more);
    expect([page.status, page.location]).toEqual([400, null]);
    expect(page.text).toContain(`<a href="${callback}?`);
    expect(page.text).not.toContain('Create key and connect');
    expect(Object.fromEntries(linkedIn(page))).toEqual({
      error,
      // What RFC 6749 (4.1.2.1) allows, except question marks, which would stand for replaced characters.
      error_description: expect.stringMatching(/^[A-Z][ !#->@-[\]-~]*\.$/),
      state: 'a state & more',
      iss: world.url,
    });
  });

  test('gets no state back if it sent two or an empty one, but does if it is too long', async () => {
    const { visiting, clientId } = await scene(world);
    const none = asking(clientId, { state: '', response_type: 'token' });
    expect(linkedIn(await visiting.get(`${pathOf(none)}&state=`)).get('state')).toBeNull();
    const twice = linkedIn(await visiting.get(`${pathOf(asking(clientId))}&state=other`));
    expect([twice.get('error'), twice.get('state')]).toEqual(['invalid_request', null]);
    const state = 'x'.repeat(2_001);
    const long = linkedIn(await visiting.get(pathOf(asking(clientId, { state }))));
    expect([long.get('error'), long.get('state')]).toEqual(['invalid_request', state]);
  });

  test('is shown only to the person if client_id or redirect_uri is sent twice', async () => {
    const { visiting, clientId } = await scene(world);
    const ask = asking(clientId);
    for (const name of ['client_id', 'redirect_uri']) {
      const { status, location, text } = await visiting.get(`${pathOf(ask)}&${name}=${ask.parameters[name]}`);
      expect([status, location, text.includes(`The parameter ${name} was sent twice.`)]).toEqual([400, null, true]);
      expect(text).not.toContain('Return to');
    }
  });
});

describe('a request that violates the protocol', () => {
  const form = 'application/x-www-form-urlencoded';
  const fields = 'grant_type=authorization_code&code=x&redirect_uri=y&code_verifier=z';

  const notAForm = `Send the parameters as ${form}, at most 20 and 8 KiB.`;
  test.each([
    ['no form', '/token', { 'content-type': 'application/json' }, '{"grant_type":"authorization_code"}', notAForm],
    ['a different text encoding', '/token', { 'content-type': `${form}; charset=utf-16` }, 'code=x', notAForm],
    ['invalid compression', '/token', { 'content-type': form, 'content-encoding': 'gzip' }, 'code=x', notAForm],
    [
      'a parameter sent twice',
      '/revoke',
      { 'content-type': form },
      'client_id=x&token=a&token=b',
      'The parameter token was sent twice.',
    ],
    ['too many parameters', '/token', { 'content-type': form }, 'a=1&'.repeat(21), notAForm],
    ['too many bytes', '/token', { 'content-type': form }, `code=${'x'.repeat(8_192)}`, notAForm],
    ['no client', '/token', { 'content-type': form }, fields, 'The parameter client_id is missing.'],
    ['no token to revoke', '/revoke', { 'content-type': form }, 'client_id=x', 'The parameter token is missing.'],
    [
      'a registration that is not JSON',
      '/register',
      { 'content-type': 'application/json' },
      '{',
      expect.stringMatching(/^The body is not valid JSON/),
    ],
    [
      'a registration with a different media type',
      '/register',
      { 'content-type': form },
      'client_name=x',
      expect.stringMatching(/^Send the body as application\/json/),
    ],
  ])('gets invalid_request: %s', async (_, path, headers, body, description) => {
    const response = await fetch(`${world.url}/oauth${path}`, { method: 'POST', headers, body });
    expect([response.status, await response.json()]).toEqual([
      400,
      { error: 'invalid_request', error_description: description },
    ]);
  });

  test('gets invalid_client if it has an Authorization header, because no client has a secret', async () => {
    const headers = { 'content-type': form, authorization: `Basic ${btoa('client:secret')}` };
    const token = (await world.organization()).key;
    for (const [path, body] of [
      ['token', fields],
      ['revoke', `token=${token}`],
    ] as const) {
      const response = await fetch(`${world.url}/oauth/${path}`, { method: 'POST', headers, body });
      const { error } = (await response.json()) as { error: string };
      expect([response.status, error, response.headers.get('www-authenticate')]).toEqual([
        401,
        'invalid_client',
        'Basic realm="oauth"',
      ]);
    }
  });

  test('gets 405 if it has a different method', async () => {
    for (const path of ['/oauth/token', '/oauth/register', '/oauth/revoke']) {
      const get = await fetch(world.url + path);
      expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
      const options = await fetch(world.url + path, { method: 'OPTIONS' });
      expect([options.status, options.headers.get('allow')]).toEqual([204, 'POST, OPTIONS']);
    }
  });
});

test('a state of 2,000 characters is returned, and survives signing in', async () => {
  const { visiting, clientId } = await scene(world);
  const state = '{"flow": "é&"}'.padEnd(2_000, '/');
  const ask = asking(clientId, { state });
  const signedOut = await visit(world.url).get(pathOf(ask));
  expect(new URL(signedOut.location ?? '', world.url).searchParams.get('next')).toBe(pathOf(ask));
  expect(answerIn(await agree(visiting, ask)).get('state')).toBe(state);
});

test('the query of a redirect URI is preserved', async () => {
  const { tenant, visiting } = await scene(world);
  const redirect = `${callback}?team=a%20b&flag&x=%7E`;
  const ask = asking(await register(world, { redirect_uris: [redirect] }), { redirect_uri: redirect });
  const { location } = await agree(visiting, ask);
  expect(location).toMatch(/^https:\/\/agent\.example\/callback\?team=a%20b&flag&x=%7E&code=[\w-]{43}&state=/);
  const code = new URL(location ?? '').searchParams.get('code') ?? '';
  const { body } = await exchange(world, ask, code);
  expect((await tenant.as(body.access_token).call('GET', '/v1/me')).status).toBe(200);
});

describe('registration', () => {
  test('responds with what it understood, and stores nothing', async () => {
    const { status, body } = await postJson(
      `${world.url}/oauth/register`,
      registration({ scope: 'all', logo_uri: 'x' }),
    );
    expect([status, body]).toEqual([
      201,
      {
        client_id: expect.stringMatching(/^[\w-]+\.[\w-]{43}$/),
        client_name: 'Robot',
        redirect_uris: [callback],
        grant_types: ['authorization_code'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      },
    ]);
  });

  test('gives a website the same client_id again, but each installation on a computer a new one', async () => {
    expect(await register(world)).toBe(await register(world));
    const both = { redirect_uris: [callback, 'http://localhost:4000/'] };
    expect(await register(world, both)).toBe(await register(world, both));
    const local = { redirect_uris: ['http://localhost:4000/'] };
    expect(await register(world, local)).not.toBe(await register(world, local));
  });

  test('names an application without a name after its host, and limits a name to one printable line', async () => {
    const nameOf = async (name: unknown, more: object = {}) =>
      (await postJson(`${world.url}/oauth/register`, registration({ client_name: name, ...more }))).body.client_name;
    expect(await nameOf(undefined)).toBe('agent.example');
    expect(await nameOf('  ')).toBe('agent.example');
    expect(await nameOf('\u3164')).toBe('agent.example');
    const longHost = `${'a'.repeat(40)}.${'b'.repeat(40)}.example`;
    expect(await nameOf('', { redirect_uris: [`https://${longHost}/`] })).toBe(longHost.slice(0, 80));
    expect(await nameOf('', { redirect_uris: ['https://agent.example:8443/'] })).toBe('agent.example:8443');
    expect(await nameOf('\u{1F600}'.repeat(300))).toBe('\u{1F600}'.repeat(80));
    expect(await nameOf('e\u0301'.repeat(80))).toBe('\u00E9'.repeat(80));
    expect(await nameOf(`${'x'.repeat(79)} y`)).toBe('x'.repeat(79));
    expect(await nameOf('a\u202Eb\nc')).toBe('a\uFFFDb\uFFFDc');
  });
});

test('an organization’s codes are removed with it', async () => {
  const { tenant, visiting, clientId } = await scene(world);
  const ask = asking(clientId);
  const code = answerIn(await agree(visiting, ask)).get('code') ?? '';
  await removeOrganization(world.database, tenant.organization.id);
  expect((await exchange(world, ask, code)).body.error).toBe('invalid_grant');
});
