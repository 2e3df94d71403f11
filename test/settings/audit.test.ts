import { describe, expect, test } from 'vitest';
import { attemptLimits } from '../../server/accounts/attempts.ts';
import { changeRole } from '../../server/accounts/members.ts';
import { changeOrganization, requireTwoFactor, setPlan } from '../../server/accounts/organizations.ts';
import { issueKey } from '../../server/keys/issue.ts';
import { renameKey, revokeKey } from '../../server/keys/revoke.ts';
import { readEvents, writeEvent } from '../../server/records/audit-log.ts';
import { changeEndpoint, createEndpoint, switchEndpoint } from '../../server/webhooks/endpoints.ts';
import { authSecret, parts as webhookParts } from '../webhooks/scene.ts';
import { useWorld } from '../world.ts';
import { freePort } from '../ports.ts';
import { auditLog, password, signIn, someone, unknownEmail, visit } from './visiting.ts';

const world = useWorld({ trustedProxies: 1 });
const securePort = await freePort();
const secure = useWorld({ publicUrl: 'https://api.example.com', port: securePort });
const from = (ip: string) => ({ 'x-forwarded-for': ip });

describe('the audit log', () => {
  test('shows admins sign-ins and failed sign-ins with their network', async () => {
    const tenant = await world.organization();
    const admin = await someone(world, tenant, 'admin', 'Ann Lee');
    const member = await someone(world, tenant, 'member', 'Ida Berg');
    const wrong = visit(world.url, from('203.0.113.9'));
    await wrong.post('/settings/sign-in', { email: member.email, password: 'wrong wrong wrong' });
    await wrong.post('/settings/sign-in', { email: unknownEmail(), password: 'wrong wrong wrong' });
    await visit(world.url, from('203.0.113.10')).post('/settings/sign-in', { email: member.email, password });
    expect(await auditLog(world, tenant, ['sign_in'])).toEqual(['sign_in_failed', 'signed_in']);
    const seen = (await (await signIn(world, admin)).get('/settings/api-keys')).text;
    expect(seen).toContain('Failed sign-in as <strong>Ida Berg</strong> from 203.0.113.9');
    expect(seen).toContain('<strong>Ida Berg</strong> signed in from 203.0.113.10');
    expect((await (await signIn(world, member)).get('/settings/api-keys')).text).not.toContain('203.0.113.9');
  });

  test('is not flooded by failures: it keeps twenty per account, regardless of network', async () => {
    const tenant = await world.organization();
    const member = await someone(world, tenant);
    await world.database.pool.query(
      `insert into sign_in.attempts (key, count, ends_at) values ($1, $2, now() + interval '10 minutes')`,
      [`logged ${member.id}`, attemptLimits.logged.most - 1],
    );
    for (const ip of ['203.0.113.21', '203.0.113.22', '203.0.113.23'])
      await visit(world.url, from(ip)).post('/settings/sign-in', {
        email: member.email,
        password: 'wrong wrong wrong',
      });
    expect(await auditLog(world, tenant, ['sign_in'])).toEqual(['sign_in_failed']);
  });

  test('still shows changes after any number of rejected attempts', async () => {
    const tenant = await world.organization();
    await setPlan(world.database, tenant.organization, 'free');
    await setPlan(world.database, tenant.organization, 'team');
    const admin = await signIn(world, await someone(world, tenant, 'admin'));
    await world.database.pool.query(
      `insert into audit_events (organization_id, id, kind, action, member_id, reason)
         select $1, gen_random_uuid(), 'rejection', 'key_created', $2, 'role' from generate_series(1, 500)`,
      [tenant.organization.id, tenant.admin.id],
    );
    const { text } = await admin.get('/settings/api-keys');
    expect(text).toContain('created API key <q>test</q>');
    expect(text).toMatch(/changed the plan from team to free/);
    expect(text.match(/was not allowed to/g)).toHaveLength(20);
  });

  test('has its own page, back to the first event, and a CSV file for admins', async () => {
    const tenant = await world.organization();
    const [admin, member] = [await someone(world, tenant, 'admin'), await someone(world, tenant, 'member')];
    await world.database.pool.query(
      `insert into audit_events (organization_id, id, kind, action, member_id, detail, created_at)
         select $1, gen_random_uuid(), 'change', 'key_created', $2, '=key ' || n, now() - n / 40 * interval '1 hour' - interval '1 day'
         from generate_series(1, 120) n`,
      [tenant.organization.id, tenant.admin.id],
    );
    const visiting = await signIn(world, admin);
    const seen: string[] = [];
    let path: string | undefined = '/settings/activity';
    while (path !== undefined) {
      const { text }: { text: string } = await visiting.get(path);
      seen.push(...[...text.matchAll(/created API key <q>=key (\d+)<\/q>/g)].map(([, n = '']) => n));
      path = /href="([^"]+before=[^"]+)">Older/.exec(text)?.[1]?.replace('&amp;', '&');
    }
    // Each exactly once, although pages begin among events with the same time.
    expect(seen.map(Number).toSorted((one, other) => one - other)).toEqual(
      Array.from({ length: 120 }, (_, n) => n + 1),
    );
    const times = seen.map((n) => Math.floor(Number(n) / 40));
    expect(times).toEqual(times.toSorted());

    const file = await visiting.get('/settings/activity.csv');
    expect(file.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(file.headers.get('cache-control')).toBe('no-store');
    const rows = file.text.trim().split('\r\n');
    expect(rows[0]).toContain('time,action,by,about');
    expect(rows.filter((row) => row.includes(",'=key ")).length).toBe(120);

    const plain = await signIn(world, member);
    expect((await plain.get('/settings/activity')).text).not.toContain('Sign-ins');
    for (const refused of ['/settings/activity.csv', '/settings/activity?kind=sign_in'])
      expect((await plain.get(refused)).status, refused).toBe(403);
    expect(
      (await (await signIn(world, await someone(world, await world.organization()))).get('/settings/activity')).text,
    ).not.toContain('=key');
  });

  test('has nothing older than an event that has been removed', async () => {
    const tenant = await world.organization();
    const admin = await signIn(world, await someone(world, tenant, 'admin'));
    const { pool } = world.database;
    await pool.query(
      `insert into audit_events (organization_id, id, kind, action, member_id, reason, created_at)
         select $1, gen_random_uuid(), 'rejection', 'key_created', $2, 'role', now() - n * interval '1 day'
         from generate_series(1, 51) n`,
      [tenant.organization.id, tenant.admin.id],
    );
    const { text } = await admin.get('/settings/activity?kind=rejection');
    const older = /href="([^"]+before=[^"]+)">Older/.exec(text)?.[1]?.replace('&amp;', '&') ?? '';
    const after49Days = `delete from audit_events where organization_id = $1 and created_at < now() - interval '49 days'`;
    await pool.query(after49Days, [tenant.organization.id]);
    const found = (await admin.get(older)).text;
    expect(found).toContain('There is no more activity.');
    expect(found).not.toContain('was not allowed to');
  });

  test('keeps 200 characters of what was typed, without control characters and marks that set the direction', async () => {
    const tenant = await world.organization();
    const detail = `\0\u202E${'x'.repeat(197)}\u{1F600}`;
    await writeEvent(tenant.em(), { action: 'key_created', memberId: null, detail });
    expect(await readEvents(tenant.em(), 'change', 1)).toMatchObject([{ detail: ` ${'x'.repeat(197)}\uFFFD` }]);
  });

  test('names who made changes outside the settings', async () => {
    const tenant = await world.organization();
    await world.database.pool.query(
      `insert into audit_events (organization_id, id, kind, action, detail, reason)
         select $1, gen_random_uuid(), 'change', action, 'it', reason
         from (values ('key_created', null), ('webhook_switched_off', '410'), ('key_revoked', 'application')) e (action, reason)`,
      [tenant.organization.id],
    );
    const { text } = await (await signIn(world, await someone(world, tenant))).get('/settings/activity');
    const sentences = [...text.matchAll(/<li><span>([^]*?)<\/span>/g)].map(([, said = '']) =>
      said.replaceAll(/<[^>]+>/g, ''),
    );
    expect(sentences).toEqual(
      expect.arrayContaining([
        'An operator created API key it',
        'The service switched off webhook endpoint it',
        'The application revoked API key it',
      ]),
    );
  });
});

describe('HTTPS', () => {
  const ours = { 'sec-fetch-site': 'same-origin', origin: 'https://api.example.com' };

  test('makes browsers stay on it, and binds cookies to this host', async () => {
    const member = await someone(secure, await secure.organization());
    const visiting = visit(`http://127.0.0.1:${securePort}`);
    const signedIn = await visiting.post('/settings/sign-in', { email: member.email, password }, ours);
    expect(signedIn.status).toBe(303);
    expect(signedIn.headers.get('strict-transport-security')).toBe('max-age=31536000');
    const cookies = signedIn.headers.getSetCookie();
    expect(cookies).toEqual([
      expect.stringMatching(/^__Host-settings\.session_token=.+; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
      expect.stringMatching(/^__Host-settings\.device=.+; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
    ]);
    expect((await visiting.get('/settings/api-keys')).status).toBe(200);
  });

  test('is for every page and file of this host, not only those of the settings', async () => {
    const paths = [
      '/',
      '/docs',
      '/docs/nothing',
      '/nothing',
      '/favicon.ico',
      '/openapi.json',
      '/oauth/token',
      '/settings',
    ];
    for (const path of paths) {
      const { headers } = await visit(`http://127.0.0.1:${securePort}`).get(path, { accept: 'text/html' });
      expect([path, headers.get('strict-transport-security')]).toEqual([path, 'max-age=31536000']);
    }
  });

  test('is not enforced without an https PUBLIC_URL', async () => {
    const { headers } = await visit(world.url).get('/settings/sign-in');
    expect(headers.get('strict-transport-security')).toBeNull();
  });
});

test('signing in redirects only to settings pages', async () => {
  const member = await someone(world, await world.organization());
  for (const [next, location] of [
    ['/settings/members?x=1', '/settings/members?x=1'],
    ['https://evil.example/settings/members', '/settings/overview'],
    ['//evil.example/settings/members', '/settings/overview'],
    ['/\\evil.example/settings/', '/settings/overview'],
    ['/settings/../v1/me', '/settings/overview'],
    ['/settings/sign-out', '/settings/overview'],
    ['javascript:alert(1)', '/settings/overview'],
    ['', '/settings/overview'],
  ] as const) {
    const visiting = visit(world.url, from('203.0.113.40'));
    const signedIn = await visiting.post('/settings/sign-in', { email: member.email, password, next });
    expect([next, signedIn.location]).toEqual([next, location]);
  }
});

test('a change is recorded with its previous value', async () => {
  const tenant = await world.organization();
  const { admin } = tenant;
  await changeOrganization(tenant.em(), admin, { name: 'Acme Two', currency: 'EUR' });
  const url = 'https://127.0.0.1/';
  const fields = { name: 'E', url, events: ['item.created'] };
  const { endpoint } = await createEndpoint(tenant.em(), admin, fields, webhookParts);
  await changeEndpoint(tenant.em(), admin, { ...fields, id: endpoint.id, url: `${url}two` }, webhookParts);
  const events = await readEvents(tenant.em(), 'change', 20);
  const previous = (action: string) => events.find((event) => event.action === action)?.previous;
  expect([previous('organization_renamed'), previous('currency_changed')]).toEqual(['Acme', 'USD']);
  expect(previous('webhook_changed')).toBe(url);
});

describe('a change to the current value', () => {
  // A process with another secret would switch the endpoint off.
  const alone = useWorld({ ownDatabase: true, authSecret });

  test('is not recorded', async () => {
    const tenant = await alone.organization();
    const { admin, organization } = tenant;
    const member = await someone(alone, tenant);
    const { key } = await issueKey(tenant.em(), admin, { name: 'Sync' });
    const fields = { name: 'E', url: 'https://127.0.0.1/', events: ['item.created'] };
    const { endpoint } = await createEndpoint(tenant.em(), admin, fields, webhookParts);
    const changes: Record<string, () => Promise<unknown>> = {
      role_changed: () => changeRole(tenant.em(), admin, member, 'admin'),
      organization_renamed: () => changeOrganization(tenant.em(), admin, { name: 'Acme Two', currency: 'USD' }),
      currency_changed: () => changeOrganization(tenant.em(), admin, { name: 'Acme Two', currency: 'EUR' }),
      two_factor_policy_changed: () => requireTwoFactor(tenant.em(), admin, { isRequired: true, isReady: true }),
      key_renamed: () => renameKey(tenant.em(), admin, key.id, 'Nightly sync'),
      key_revoked: () => revokeKey(tenant.em(), admin, key.id),
      webhook_switched_off: () => switchEndpoint(tenant.em(), admin, { id: endpoint.id, on: false }),
      webhook_switched_on: () => switchEndpoint(tenant.em(), admin, { id: endpoint.id, on: true }),
      plan_changed: () => setPlan(alone.database, organization, 'free'),
    };
    for (const [action, change] of Object.entries(changes)) {
      const before = (await auditLog(alone, tenant)).length;
      for (const _ of ['first', 'again']) await change();
      const added = (await auditLog(alone, tenant)).slice(before);
      expect(added).toEqual([expect.stringMatching(new RegExp(`^${action}\\b`))]);
    }
  });
});
