import { describe, expect, test } from 'vitest';
import type { Member } from '../../server/entities/organization.ts';
import { publicId } from '../../server/records/public-id.ts';
import { maximumLiveKeys } from '../../server/keys/issue.ts';
import { listKeys } from '../../server/keys/list.ts';
import { marks, watchNormalized } from '../normalized.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';
import { auditLog, keyNames, otherSites, signIn, someone, visit } from './visiting.ts';
import type { Visit } from './visiting.ts';

const world = useWorld();
const path = '/settings/api-keys';
const rawKey = /ak_live_[0-9a-f]{64}/g;

type Scene = { tenant: Tenant; admin: Member; visiting: Visit; keyPath: string };

/** An organization whose admin is signed in; it has one key, called "test". */
async function scene(options: Parameters<typeof world.organization>[0] = {}): Promise<Scene> {
  const tenant = await world.organization(options);
  const admin = await someone(world, tenant, 'admin', 'Ann Lee');
  const [key] = await listKeys(tenant.em());
  const keyPath = `${path}/${publicId('key', key?.id ?? '')}`;
  return { tenant, admin, visiting: await signIn(world, admin), keyPath };
}

const create = async (visiting: Visit, name: string, csrfToken?: string) =>
  visiting.post(path, { name, csrfToken: csrfToken ?? (await visiting.csrfToken()) });

describe('creating a key', () => {
  test('shows the key in that response only, and it works immediately', async () => {
    const { tenant, visiting } = await scene();
    const answer = await create(visiting, 'Zapier');
    expect(answer.status).toBe(201);
    const [raw = ''] = answer.text.match(rawKey) ?? [];
    expect(new Set(answer.text.match(rawKey)).size).toBe(1);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect((await tenant.as(raw).call('GET', '/v1/me')).body.key.name).toBe('Zapier');
    const after = await visiting.get(path);
    expect(after.text).not.toMatch(rawKey);
    expect(after.text).toContain(`${raw.slice(0, 12)}…${raw.slice(-4)}`);
    expect(await auditLog(world, tenant)).toEqual(['key_created test', 'key_created Zapier']);
  });

  test('leaves the raw key neither in the database nor in the log', async () => {
    const { visiting } = await scene();
    const [raw = ''] = (await create(visiting, 'Secret')).text.match(rawKey) ?? [];
    const tables = await world.database.pool.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('public', 'sign_in')`,
    );
    expect(tables.rows.length).toBeGreaterThan(10);
    for (const { name } of tables.rows) {
      const found = await world.database.pool.query(`select 1 from ${name} as t where t::text like '%' || $1 || '%'`, [
        raw.slice(12, -4),
      ]);
      expect([name, found.rowCount]).toEqual([name, 0]);
    }
    expect(JSON.stringify(world.log)).not.toContain(raw.slice(12, -4));
  });

  test('creates one key per form, no matter how often or from how many tabs it is sent', async () => {
    const { tenant, visiting } = await scene();
    const form = await visiting.csrfToken();
    const answers = await Promise.all([1, 2, 3].map(() => create(visiting, 'Once', form)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409]);
    const again = await create(visiting, 'Once', form);
    expect(again.status).toBe(409);
    expect(again.text).toContain('No second key was created.');
    expect(again.text).not.toMatch(rawKey);
    expect(await keyNames(world, tenant)).toEqual(['test', 'Once']);
  });

  test('keeps what was typed if the name is invalid', async () => {
    const { tenant, visiting } = await scene();
    for (const [name, sentence] of [
      ['  ', 'Enter a name.'],
      [`<${'x'.repeat(80)}`, 'Use at most 80 characters.'],
    ] as const) {
      const answer = await create(visiting, name);
      expect([answer.status, answer.text.includes(sentence)]).toEqual([422, true]);
      expect(answer.text).toContain(`value="${name.replace('<', '&lt;')}"`);
    }
    expect(await keyNames(world, tenant)).toEqual(['test']);
    // An emoji is one character.
    expect((await create(visiting, '\u{1F600}'.repeat(80))).status).toBe(201);
  });

  test('rejects a name that is too long before it is normalized', async () => {
    const { visiting } = await scene();
    const { longest } = watchNormalized();
    expect((await create(visiting, `x${marks.slice(0, 2_000)}`)).text).toContain('Use at most 80 characters.');
    expect(longest()).toBeLessThan(1_000);
  });

  test('stops at 25 live keys, and says so', async () => {
    const { tenant, visiting } = await scene();
    for (let count = 1; count < maximumLiveKeys; count += 1) await tenant.anotherKey(`k${count}`);
    const page = await visiting.get(path);
    expect(page.text).toContain('All 25 keys are in use.');
    expect(page.text).not.toContain('Create key');
    const answer = await create(visiting, 'One more');
    expect([answer.status, answer.text.includes('Revoke one first')]).toEqual([422, true]);
    const ending = `update api_keys set ends_at = now() where organization_id = $1 and name = 'k1'`;
    await world.database.pool.query(ending, [tenant.organization.id]);
    expect((await create(visiting, 'In place of k1')).status).toBe(201);
    expect((await create(visiting, 'One more')).status).toBe(422);
  });
});

describe('a key in the list', () => {
  test('shows who created it and when it was last used', async () => {
    const { tenant, visiting, keyPath } = await scene();
    const before = (await visiting.get(path)).text;
    expect(before).toMatch(/data-head="Created by">Ann</);
    expect(before).toMatch(/data-head="Last used">Never</);
    await tenant.call('GET', '/v1/me');
    await expect
      .poll(async () => (await visiting.get(path)).text, { timeout: 120_000 })
      .toMatch(/data-head="Last used"><time datetime="[^"]+" title="[^"]+ UTC">just now</);
    const confirmation = await visiting.get(`${keyPath}/revoke`);
    expect(confirmation.text).toMatch(/Revoke “test”\?/);
    expect(confirmation.text).toMatch(/last used <strong><time [^>]+>just now/);
  });

  test('can be renamed, and is shown under its new name', async () => {
    const { tenant, visiting, keyPath } = await scene();
    await tenant.call('GET', '/v1/me');
    const rename = (name: string) => visiting.submit(`${keyPath}/rename`, { name });
    const answer = await rename('Night & day');
    expect([answer.status, answer.location]).toEqual([303, expect.stringContaining(`${path}?renamed=key_`)]);
    expect((await visiting.get(answer.location ?? '')).text).toContain('The key is now named “Night &amp; day”.');
    expect((await tenant.call('GET', '/v1/me')).body.key.name).toBe('Night & day');
    const refused = await rename('');
    expect([refused.status, refused.text.includes('Enter a name.')]).toEqual([422, true]);
    // Renaming it to its current name is not a change.
    expect((await rename('Night & day')).status).toBe(303);
    expect(await auditLog(world, tenant)).toEqual(['key_created test', 'key_renamed Night & day']);
    // Another admin revokes it while the form is open.
    await visiting.submit(`${keyPath}/revoke`);
    const late = await rename('Too late');
    expect([late.status, late.text.includes('This key no longer works. Nothing was changed.')]).toEqual([409, true]);
    expect((await visiting.get(path)).text).not.toContain('Too late');
  });

  test('can be revoked, and is rejected from the next request on', async () => {
    const { tenant, visiting, keyPath } = await scene();
    expect((await tenant.call('GET', '/v1/me')).status).toBe(200);
    const answer = await visiting.submit(`${keyPath}/revoke`);
    const refused = await tenant.call('GET', '/v1/me');
    expect([refused.status, refused.body.code]).toEqual([401, 'api_key_revoked']);
    const guide = await fetch(`${world.url}/docs/api-keys.md`);
    expect(await guide.text()).toMatch(/every request with it is rejected as\s+\[`api_key_revoked`\]/);
    const page = await visiting.get(answer.location ?? '');
    expect(page.text).toContain('“test” has been revoked');
    expect(page.text).toMatch(/Revoked and expired keys <span class="count">1</);
    expect(page.text).toMatch(/<q>test<\/q>/);
    expect((await visiting.get(`${keyPath}/revoke`)).location).toBe(path);
    expect((await visiting.submit(`${keyPath}/revoke`)).status).toBe(303);
    expect(await auditLog(world, tenant)).toEqual(['key_created test', 'key_revoked test']);
    await world.database.pool.query(
      `insert into api_keys (organization_id, id, name, prefix, last_four, hash, created_by, revoked_at)
       select organization_id, gen_random_uuid(), name, prefix, last_four, gen_random_uuid(), created_by, revoked_at
       from api_keys, generate_series(1, 100) where organization_id = $1`,
      [tenant.organization.id],
    );
    expect((await visiting.get(path)).text).toMatch(
      /Revoked and expired keys <span class="count">101<[^]*The latest 100 are shown/,
    );
  });

  test('is escaped, no matter what it and its creator are called', async () => {
    const tenant = await world.organization({ name: '<i>Acme</i> & "Sons"' });
    const visiting = await signIn(world, await someone(world, tenant, 'admin', `<img src=x onerror=alert(1)>`));
    const name = `<script>alert('&')</script>"`;
    const made = await create(visiting, name);
    const list = await visiting.get(path);
    const keyPath = /href="([^"]+)\/revoke"/.exec(list.text)?.[1] ?? '';
    const pages = [
      made,
      list,
      await visiting.get(`${keyPath}/revoke`),
      await visiting.get(`${keyPath}/rename`),
      await create(visiting, `${name}${'x'.repeat(80)}`),
    ];
    for (const { text } of pages) {
      expect(text).toContain('&lt;script&gt;');
      expect(text).toContain('&lt;i&gt;Acme&lt;/i&gt; &amp; &quot;Sons&quot;');
      expect(text).not.toMatch(/<img(?! src="\/settings\/)|<i>|<script>|onerror=alert\(1\)>/);
    }
  });
});

describe('without permission', () => {
  test('a member sees the list without raw keys or actions', async () => {
    const { tenant } = await scene();
    const visiting = await signIn(world, await someone(world, tenant));
    const { text } = await visiting.get(path);
    expect(text).toContain('>test<');
    expect(text).toContain('Only admins of the organization can create, rename and revoke keys.');
    expect(text).not.toMatch(/Create key|\/rename|\/revoke|ak_live_[0-9a-f]{5}/);
  });

  test('forms that a member forges are in the audit log', async () => {
    const { tenant, keyPath } = await scene();
    const visiting = await signIn(world, await someone(world, tenant));
    await create(visiting, 'Mine');
    await visiting.submit(`${keyPath}/rename`, { name: 'Mine' });
    await visiting.submit(`${keyPath}/revoke`);
    expect(await auditLog(world, tenant)).toEqual([
      'key_created test',
      'key_created Mine rejected: role',
      'key_renamed Mine rejected: role',
      `key_revoked ${keyPath.split('/').at(-1)} rejected: role`,
    ]);
    expect((await visiting.get(path)).text).toMatch(/was not allowed to create a key <q>Mine<\/q>:\s+not an admin/);
  });

  test('attempts of another organization’s admin are in the audit log of that organization', async () => {
    const { tenant, keyPath } = await scene();
    const stranger = await scene();
    for (const verb of ['rename', 'revoke']) await stranger.visiting.submit(`${keyPath}/${verb}`, { name: 'Mine' });
    expect(await auditLog(world, stranger.tenant)).toEqual([
      'key_created test',
      'key_renamed Mine rejected: unknown',
      expect.stringMatching(/^key_revoked key_.* rejected: unknown$/),
    ]);
    expect(await auditLog(world, tenant)).toEqual(['key_created test']);
  });

  test('a form from another site is in the audit log', async () => {
    const { tenant, visiting } = await scene();
    const form = await visiting.csrfToken();
    for (const headers of otherSites) await visiting.post(path, { name: 'Evil', csrfToken: form }, headers);
    expect(await auditLog(world, tenant)).toEqual([
      'key_created test',
      ...otherSites.map(() => 'key_created rejected: forged'),
    ]);
    expect((await visiting.get(path)).text).toContain('the form did not come from a page of this service');
  });

  test('an admin on the Free plan sees what Team includes, and a forged form creates nothing', async () => {
    const { tenant, visiting } = await scene({ plan: 'free' });
    const { text } = await visiting.get(path);
    expect(text).toContain('API keys need the Team plan');
    expect(text).toContain('Needs Team');
    // The audit log needs no plan.
    expect((await visiting.get('/settings/activity')).status).toBe(200);
    expect(text).toContain('Webhooks, imports and exports');
    expect(text).not.toContain('audit log');
    expect(text).not.toMatch(/Create key|YOUR_API_KEY/);
    const answer = await create(visiting, 'Cheap');
    expect([answer.status, answer.text.includes('API keys need the Team plan.')]).toEqual([403, true]);
    expect(await keyNames(world, tenant)).toEqual(['test']);
    expect(await auditLog(world, tenant)).toEqual(['key_created test', 'key_created Cheap rejected: plan']);
  });
});

describe('every page', () => {
  test('has stylesheets and a script that can be cached forever', async () => {
    const { text } = await visit(world.url).get('/settings/sign-in');
    const assets = new Set([...text.matchAll(/"(\/settings\/assets\/[^"]+)"/g)].map(([, found = '']) => found));
    expect(assets.size).toBe(4);
    for (const asset of assets) {
      const { status, headers, text: content } = await visit(world.url).get(asset);
      expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
      // Safari supports it only with its prefix.
      expect(content).not.toMatch(/^\s*user-select:/m);
      // The policy blocks such icons. Replacing them in the next stylesheet can be too late: a browser may load them first.
      expect(content).not.toContain('url("data:');
    }
    expect((await visit(world.url).get('/settings/assets/..%2froutes.ts')).status).toBe(404);
  });

  test('that reports an error is still an HTML page', async () => {
    const { tenant, visiting } = await scene();
    const pages: [number, Promise<{ status: number; headers: Headers; text: string }>][] = [
      [404, visiting.get('/settings/nowhere')],
      [404, visiting.get(`${path}/key_nonsense/revoke`)],
      [404, visiting.get('/settings/customers/cus_x')],
      [404, visiting.get('/settings/%ZZ')],
      [404, visiting.post('/settings/nowhere', {})],
      [405, visiting.get('/settings/sign-out')],
      [400, visiting.get(`${path}?a=%ZZ`)],
      [413, visiting.post(path, { name: 'x'.repeat(20_000) })],
    ];
    for (const [status, answer] of pages) {
      const { headers, text, status: given } = await answer;
      expect([given, headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8']);
      expect(headers.get('content-security-policy')).toContain(
        "default-src 'none'; style-src 'self'; script-src 'self'",
      );
      expect(text).toContain(`Error ${status}`);
    }
    expect(await keyNames(world, tenant)).toEqual(['test']);
  });

  test('that reports an error has the menu for those who are signed in', async () => {
    const { visiting } = await scene();
    const { text } = await visiting.get('/settings/customers/cus_x');
    expect(text).toContain('<a href="/settings/customers"  aria-current="page">Customers</a>');
    expect((await visit(world.url).get('/settings/nowhere')).text).not.toContain('aria-current');
  });

  test('that fails on our side says so without the cause, which is in the log', async () => {
    const { admin, visiting } = await scene();
    // A failure that no code foresees.
    await world.database.pool.query(`update api_keys set created_at = 'infinity' where organization_id = $1`, [
      admin.organizationId,
    ]);
    const answer = await visiting.get(path);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([500, 'text/html; charset=utf-8']);
    expect(answer.text).toContain('Something went wrong on our side');
    expect(answer.text).not.toMatch(/Invalid|Error:|at .*\.ts|select /);
    expect(answer.text).toContain(answer.headers.get('x-request-id'));
    expect(world.log.find(({ requestId }) => requestId === answer.headers.get('x-request-id'))).toMatchObject({
      status: 500,
      memberId: publicId('member', admin.id),
      error: expect.anything(),
    });
  });
});
