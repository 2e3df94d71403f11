/** Laws for every settings form. The list comes from the router itself, so a new form cannot be forgotten. */
import { gzipSync } from 'node:zlib';
import { Socket } from 'node:net';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { publicId } from '../../server/records/public-id.ts';
import { isFromOurPage } from '../../server/web/settings/csrf.ts';
import { useWorld } from '../world.ts';
import { freePort } from '../ports.ts';
import { pathsOf, scene, stateOf } from './every-route.ts';
import type { Scene } from './every-route.ts';
import { otherSites, rawRequest, signIn, someone, visit } from './visiting.ts';
import type { Visit } from './visiting.ts';

const singleSignOn = { issuer: 'http://localhost:1', clientId: 'none', clientSecret: 'none' };
const plain = useWorld({ singleSignOn });
const publishedPort = await freePort();
useWorld({ singleSignOn, publicUrl: 'https://api.example.com', port: publishedPort });
const plainPort = () => Number(new URL(plain.url).port);

let ours: Scene;
let stranger: Scene;
/** A CSRF token from another session of the same admin. */
let otherToken: string;
beforeAll(async () => {
  [ours, stranger] = [await scene(plain), await scene(plain)];
  otherToken = await (await signIn(plain, ours.admin)).csrfToken();
});
// Rejected requests change nothing but the count of attempts, so one scene serves every test.
beforeEach(() => {
  const members = [ours, stranger].map(({ admin }) => `member ${admin.id}`);
  // Other test files count theirs in the same table at the same time.
  const own = `delete from sign_in.attempts where key like '% 127.0.0.1' or key = any($1)`;
  return plain.database.pool.query(own, [members]);
});

/** Every field that any form has, with values that would be accepted. */
const everyField = (csrfToken: string) => ({
  csrfToken,
  name: 'Evil',
  email: 'evil@example.com',
  role: 'admin',
  period: 'week',
  password: 'correct horse battery',
  current: 'correct horse battery',
  kind: 'customers',
  format: 'csv',
  url: 'https://127.0.0.1/evil',
  'event item.created': 'on',
  event: 'evt_01jzy3v1k8e2tb6qk3x5w9r7md',
  overlap: 'now',
  since: '2026-01-01',
});
/** The same with a file, as a browser encodes it. */
function withFile(csrfToken: string): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(everyField(csrfToken))) form.set(name, value);
  form.set('file', new File(['externalId,name\nC-1,Evil\n'], 'evil.csv'));
  return form;
}
const body = (csrfToken: string) => new URLSearchParams(everyField(csrfToken)).toString();

describe('every form', async () => {
  const paths = await pathsOf('post');

  test('is known to this law', () => {
    for (const path of [
      '/sign-in',
      '/api-keys',
      '/api-keys/:id/replace',
      '/members',
      '/members/:id/remove',
      '/account/password',
      '/account/two-factor',
      '/members/:id/two-factor',
      '/connect',
      '/imports',
      '/imports/:id/start',
      '/exports',
    ])
      expect(paths).toContain(path);
  });

  for (const path of paths) {
    test(`POST ${path} rejects requests from other sites, even with a valid session and CSRF token`, async () => {
      const { tenant, fill, visiting } = ours;
      const csrfToken = await visiting.csrfToken();
      const before = await stateOf(plain, tenant.organization.id);
      for (const headers of otherSites)
        for (const form of [everyField(csrfToken), withFile(csrfToken)]) {
          expect([headers, (await visiting.post(fill(path), form, headers)).status]).toEqual([headers, 403]);
          expect(plain.log.at(-1)).toMatchObject({ path: fill(path), status: 403, method: 'POST' });
        }
      expect(await stateOf(plain, tenant.organization.id)).toBe(before);
    });

    test(`POST ${path} rejects a forged Host, with and without PUBLIC_URL`, async () => {
      const { fill, visiting } = ours;
      const csrfToken = await visiting.csrfToken();
      for (const port of [plainPort(), publishedPort]) {
        const forged: Record<string, string>[] = [
          { host: 'evil.example', origin: 'http://evil.example' },
          { host: 'evil.example', origin: 'http://evil.example', 'sec-fetch-site': 'same-origin' },
          { host: `evil.example:${port}`, 'sec-fetch-site': 'same-origin' },
          { host: 'localhost:1', origin: 'http://localhost:1', 'sec-fetch-site': 'same-origin' },
          // A page that someone on the network serves under our name, over plain HTTP.
          { host: 'api.example.com', origin: 'http://api.example.com' },
        ];
        for (const headers of forged) {
          const response = await rawRequest(
            port,
            fill(path),
            { ...headers, cookie: visiting.cookie() },
            body(csrfToken),
          );
          expect([headers, response.status]).toEqual([headers, 403]);
        }
      }
    });
  }

  test('says in the title of its page that it was rejected', async () => {
    // Of its own: some of these forms do something even if they are empty.
    const { fill, visiting } = await scene(plain);
    const titles = new Map<string, string | undefined>();
    for (const path of paths.filter((one) => !one.endsWith('/sign-out'))) {
      const { text } = await visiting.post(fill(path), { csrfToken: await visiting.csrfToken() });
      if (/-problem" role="alert"/.test(text)) titles.set(path, /<title>(.*?) ·/.exec(text)?.[1]);
    }
    expect([...titles.keys()]).toEqual(expect.arrayContaining(['/sign-in', '/api-keys', '/webhooks', '/imports']));
    for (const [path, title] of titles) expect([path, title]).toEqual([path, expect.stringMatching(/^Error: ./)]);
  });

  const withoutSession = ['/sign-in', '/sign-in/code', '/sign-out', '/password', '/forgot-password'];
  const behindSession = paths.filter((path) => !withoutSession.includes(path));

  for (const path of behindSession) {
    test(`POST ${path} needs a session and that session’s own CSRF token`, async () => {
      const { tenant, fill, visiting } = ours;
      const foreign = await stranger.visiting.csrfToken();
      const before = await stateOf(plain, tenant.organization.id);
      const [id = ''] = foreign.split('.');
      for (const csrfToken of [' ', 'x', otherToken, foreign, `${id}.`, `${id}.AAAA`])
        for (const form of [everyField(csrfToken), withFile(csrfToken)])
          expect((await visiting.post(fill(path), form)).status).toBe(403);
      // Of the same person's other session: another tab may have begun this one since.
      const earlier = await visiting.post(fill(path), everyField(otherToken));
      expect(earlier.text).toContain('This browser has signed in again since this page was opened');
      const nobody = await visit(plain.url).post(fill(path), everyField(foreign));
      expect([nobody.status, nobody.location]).toEqual([303, '/settings/sign-in?after=session-ended']);
      expect(await stateOf(plain, tenant.organization.id)).toBe(before);
    });
  }

  // Switching to another organization changes only the session.
  for (const path of behindSession.filter((one) => one !== '/organization'))
    test(`POST ${path} is rejected if its member has just sent too many`, async () => {
      const { tenant, admin, fill, visiting } = ours;
      const csrfToken = await visiting.csrfToken();
      const text = `insert into sign_in.attempts (key, count, ends_at) values ($1, 60, now() + interval '1 minute')`;
      await plain.database.pool.query(text, [`member ${admin.id}`]);
      const before = await stateOf(plain, tenant.organization.id);
      const rejected = await visiting.post(fill(path), everyField(csrfToken));
      expect([rejected.status, rejected.text]).toEqual([429, expect.stringContaining('Too many changes at once.')]);
      expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThan(0);
      // It is written once the response has been sent.
      const logged = { status: 429, memberId: publicId('member', admin.id) };
      await expect.poll(() => plain.log.at(-1)).toMatchObject(logged);
      expect(await stateOf(plain, tenant.organization.id)).toBe(before);
    });

  for (const path of behindSession)
    test(`POST ${path} gets no 500 for text that the database cannot store`, async () => {
      const names = [...Object.keys(everyField('')), 'session', 'organization', 'organizationName', 'currency', 'code'];
      const unstorable = Object.fromEntries(names.map((name) => [name, 'a\0b']));
      for (const role of ['member', 'admin']) {
        await plain.database.pool.query('update members set role = $2 where id = $1', [ours.admin.id, role]);
        const fields = { ...unstorable, csrfToken: await ours.visiting.csrfToken() };
        const sent = await ours.visiting.post(`/settings${path.replace(':id', 'a%00b')}`, fields);
        expect([role, sent.status < 500]).toEqual([role, true]);
      }
    });

  for (const path of behindSession.filter((one) => one.includes(':id')))
    test(`POST ${path} is not for members of another organization`, async () => {
      const { tenant, fill } = ours;
      const before = await stateOf(plain, tenant.organization.id);
      const fields = everyField(await stranger.visiting.csrfToken());
      expect((await stranger.visiting.post(fill(path), fields)).status).toBe(404);
      expect(await stateOf(plain, tenant.organization.id)).toBe(before);
    });

  for (const path of behindSession.filter((one) => !one.includes(':id')))
    test(`POST ${path} changes nothing in another organization`, async () => {
      const before = await stateOf(plain, ours.tenant.organization.id);
      // A separate session, because some of these forms end it.
      const visiting = await signIn(plain, await someone(plain, await plain.organization(), 'admin'));
      const organization = publicId('organization', ours.tenant.organization.id);
      const sent = await visiting.post(ours.fill(path), { ...everyField(await visiting.csrfToken()), organization });
      expect(sent.status).toBeLessThan(500);
      expect(await stateOf(plain, ours.tenant.organization.id)).toBe(before);
    });

  const forMembers = (path: string) => path.startsWith('/account') || path === '/organization';

  for (const path of behindSession.filter((one) => !forMembers(one)))
    test(`POST ${path} rejects an admin who was demoted after opening the form`, async () => {
      const { tenant, admin, fill, visiting } = ours;
      const csrfToken = await visiting.csrfToken();
      await plain.database.pool.query(`update members set role = 'member' where id = $1`, [admin.id]);
      const before = await stateOf(plain, tenant.organization.id);
      expect((await visiting.post(fill(path), everyField(csrfToken))).status).toBe(403);
      expect(await stateOf(plain, tenant.organization.id)).toBe(before);
      await plain.database.pool.query(`update members set role = 'admin' where id = $1`, [admin.id]);
    });

  test('is accepted from its own page, under every name of this machine', async () => {
    const { visiting } = ours;
    const port = plainPort();
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`]) {
      // Some browsers send only Origin.
      const site: Record<string, string> = host.startsWith('1') ? {} : { 'sec-fetch-site': 'same-origin' };
      const headers = { host, origin: `http://${host}`, cookie: visiting.cookie(), ...site };
      const response = await rawRequest(port, '/settings/api-keys', headers, body(await visiting.csrfToken()));
      expect([host, response.status]).toEqual([host, 201]);
    }
  });

  test.each([
    ['http://127.0.0.1:3000', '::ffff:192.0.2.7', 'http://192.0.2.7:3000', true],
    ['http://localhost:3000', 'fd00::1', 'http://[fd00::1]:3000', true],
    ['https://api.example.com', '192.0.2.7', 'https://192.0.2.7', false],
  ])('of the service at %s, sent to %s from %s, is ours: %s', (publicUrl, localAddress, origin, isOurs) => {
    const socket = Object.defineProperty(new Socket(), 'localAddress', { value: localAddress });
    expect(isFromOurPage({ headers: { origin }, socket }, publicUrl)).toBe(isOurs);
  });

  test('is accepted from the public URL, no matter which Host a proxy sets', async () => {
    const headers = { host: 'internal:8080', origin: 'https://api.example.com', 'sec-fetch-site': 'same-origin' };
    const fields = 'email=nobody%40example.com&password=wrong+wrong+wrong';
    expect((await rawRequest(publishedPort, '/settings/sign-in', headers, fields)).status).toBe(422);
  });
});

describe('a malformed form', () => {
  const send = (visiting: Visit, sent: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
    fetch(`${plain.url}/settings/api-keys`, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'sec-fetch-site': 'same-origin',
        cookie: visiting.cookie(),
        ...headers,
      },
      body: sent,
    });

  test('with too many fields, broken compression or too much data gets a 4xx page', async () => {
    const { tenant, visiting } = ours;
    const before = await stateOf(plain, tenant.organization.id);
    const csrfToken = await visiting.csrfToken();
    const broken = new Uint8Array(gzipSync(body(csrfToken)).subarray(0, 30));
    const responses = [
      await send(visiting, Array.from({ length: 60 }, (_, index) => `f${index}=1`).join('&')),
      await send(visiting, broken, { 'content-encoding': 'gzip' }),
      await send(visiting, 'not gzip at all', { 'content-encoding': 'gzip' }),
      await send(visiting, body(csrfToken), { 'content-encoding': 'made-up' }),
      await send(visiting, `name=${'x'.repeat(20_000)}`),
      await send(visiting, 'name=x', { 'content-type': 'application/x-www-form-urlencoded; charset=made-up' }),
    ];
    for (const response of responses) {
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(response.status).toBeLessThan(500);
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    }
    expect(await stateOf(plain, tenant.organization.id)).toBe(before);
  });
});
