/** Laws over every form of the settings: taken from the router itself, so that a new form cannot be forgotten. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { openDatabase } from '../../server/database/orm.ts';
import { KeyDirectory } from '../../server/keys/directory.ts';
import { createUploads } from '../../server/import/uploads/uploads.ts';
import { createUsageLog } from '../../server/keys/usage.ts';
import { publicId } from '../../server/records/public-id.ts';
import { settingsRouter } from '../../server/web/settings/routes.ts';
import type { Member } from '../../server/entities/organization.ts';
import { useWorld } from '../world.ts';
import type { Tenant } from '../world.ts';
import { freePort, otherSites, rawRequest, signIn, someone, visit } from './visiting.ts';
import type { Visit } from './visiting.ts';

const singleSignOn = { issuer: 'http://localhost:1', clientId: 'none', clientSecret: 'none' };
const plain = useWorld({ singleSignOn });
const publishedPort = await freePort();
useWorld({ singleSignOn, publicUrl: 'https://api.example.com', port: publishedPort });
const plainPort = () => Number(new URL(plain.url).port);

/** The path of every POST route of the router. */
async function postPaths(): Promise<string[]> {
  const database = await openDatabase({ url: inject('databaseUrl') });
  const ignore = () => {};
  const usage = createUsageLog({ pool: database.pool, onError: ignore });
  const keys = new KeyDirectory(database.pool, () => 0);
  const uploads = createUploads({ database, folder: join(tmpdir(), 'proposal-api-no-uploads'), onError: ignore });
  const parts = {
    database,
    keys,
    usage,
    uploads,
    singleSignOn,
    secure: false,
    baseUrl: () => plain.url,
    onError: ignore,
  };
  const router = settingsRouter({ ...parts, secret: 'not much of a secret, but long enough' });
  const paths = router.stack.flatMap(({ route }) =>
    route && route.stack.some(({ method }) => method === 'post') ? [route.path] : [],
  );
  await Promise.all([usage.close(), uploads.close()]);
  await database.orm.close();
  return paths;
}

/** What the database holds that a form could change. */
async function stateOf(organizationId: string): Promise<string> {
  const { rows } = await plain.database.pool.query(
    `select (select json_agg(k order by k.id) from api_keys k where organization_id = $1) as keys,
       (select json_agg(m order by m.id) from members m where organization_id = $1) as members,
       (select json_agg(a.password order by a.id) from sign_in."account" a join sign_in."user" u on u.id = a."userId"
          join members m on m.email_key = u.email where m.organization_id = $1) as passwords,
       (select count(*) from sign_in."session" s join sign_in."user" u on u.id = s."userId"
          join members m on m.email_key = u.email where m.organization_id = $1) as sessions,
       (select count(*) from sign_in."verification" v join sign_in."user" u on u.id::text = v.value
          join members m on m.email_key = u.email where m.organization_id = $1) as links,
       (select json_agg(u order by u.id) from uploads u where organization_id = $1) as uploads,
       (select count(*) from audit_events where organization_id = $1 and kind = 'change') as changes`,
    [organizationId],
  );
  return JSON.stringify(rows);
}

type Scene = { tenant: Tenant; admin: Member; fill(path: string): string; visiting: Visit };

/** A file that an import could be started for. */
async function checkedUpload({ organization }: Tenant, { id }: Member): Promise<string> {
  const { rows } = await plain.database.pool.query<{ id: string }>(
    `insert into uploads (organization_id, id, member_id, kind, file_name, mapping, state, rows)
     values ($1, gen_random_uuid(), $2, 'customers', 'c.csv', '{}', 'checked', '[]') returning id`,
    [organization.id, id],
  );
  return rows[0]?.id ?? '';
}

async function scene(): Promise<Scene> {
  const tenant = await plain.organization();
  const admin = await someone(plain, tenant, 'admin');
  const other = await someone(plain, tenant, 'member');
  const { rows } = await plain.database.pool.query<{ id: string }>(
    'select id from api_keys where organization_id = $1',
    [tenant.organization.id],
  );
  const [memberId, keyId] = [publicId('member', other.id), publicId('key', rows[0]?.id ?? '')];
  const uploadId = await checkedUpload(tenant, other);
  const idIn = (path: string) =>
    ({ '/members': memberId, '/imports': uploadId })[/^\/\w+/.exec(path)?.[0] ?? ''] ?? keyId;
  const fill = (path: string) => `/settings${path.replace(':id', idIn(path))}`;
  return { tenant, admin, fill, visiting: await signIn(plain, admin) };
}

let ours: Scene;
let stranger: Scene;
beforeAll(async () => {
  [ours, stranger] = [await scene(), await scene()];
});
// What is rejected changes nothing, so one scene serves every test; only the attempts are counted.
beforeEach(() => {
  const members = [ours, stranger].map(({ admin }) => `member ${admin.id}`);
  // Other files count theirs at the same time.
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
  const paths = await postPaths();

  test('is known to this law', () => {
    for (const path of [
      '/sign-in',

      '/api-keys',
      '/api-keys/:id/replace',
      '/members',
      '/members/:id/remove',
      '/account/password',
      '/imports',
      '/imports/:id/start',
      '/exports',
    ])
      expect(paths).toContain(path);
  });

  for (const path of paths) {
    test(`POST ${path} rejects what another site sends, with the session and its CSRF token`, async () => {
      const { tenant, fill, visiting } = ours;
      const csrfToken = await visiting.csrfToken();
      const before = await stateOf(tenant.organization.id);
      for (const headers of otherSites)
        for (const form of [everyField(csrfToken), withFile(csrfToken)])
          expect([headers, (await visiting.post(fill(path), form, headers)).status]).toEqual([headers, 403]);
      expect(await stateOf(tenant.organization.id)).toBe(before);
    });

    test(`POST ${path} rejects a forged Host, whether PUBLIC_URL is set or not`, async () => {
      const { fill, visiting } = ours;
      const csrfToken = await visiting.csrfToken();
      for (const port of [plainPort(), publishedPort]) {
        const forged: Record<string, string>[] = [
          { host: 'evil.example', origin: 'http://evil.example' },
          { host: 'evil.example', origin: 'http://evil.example', 'sec-fetch-site': 'same-origin' },
          { host: `evil.example:${port}`, 'sec-fetch-site': 'same-origin' },
          { host: 'localhost:1', origin: 'http://localhost:1', 'sec-fetch-site': 'same-origin' },
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

  const withoutSession = ['/sign-in', '/sign-out', '/password', '/forgot-password'];
  const behindSession = paths.filter((path) => !withoutSession.includes(path));

  for (const path of behindSession) {
    test(`POST ${path} needs a CSRF token of its own session, and a session`, async () => {
      const { tenant, fill, visiting } = ours;
      const foreign = await stranger.visiting.csrfToken();
      const before = await stateOf(tenant.organization.id);
      const [id = ''] = foreign.split('.');
      for (const csrfToken of [' ', 'x', foreign, `${id}.`, `${id}.AAAA`])
        for (const form of [everyField(csrfToken), withFile(csrfToken)])
          expect((await visiting.post(fill(path), form)).status).toBe(403);
      const nobody = await visit(plain.url).post(fill(path), everyField(foreign));
      expect([nobody.status, nobody.location]).toEqual([303, '/settings/sign-in']);
      expect(await stateOf(tenant.organization.id)).toBe(before);
    });

    test(`POST ${path} is not for members of another organization`, async () => {
      if (!path.includes(':id')) return;
      const { tenant, fill } = ours;
      const before = await stateOf(tenant.organization.id);
      const fields = everyField(await stranger.visiting.csrfToken());
      expect((await stranger.visiting.post(fill(path), fields)).status).toBe(404);
      expect(await stateOf(tenant.organization.id)).toBe(before);
    });

    test(`POST ${path} is not for an admin who was demoted meanwhile`, async () => {
      if (path.startsWith('/account')) return;
      const { tenant, admin, fill, visiting } = ours;
      const csrfToken = await visiting.csrfToken();
      await plain.database.pool.query(`update members set role = 'member' where id = $1`, [admin.id]);
      const before = await stateOf(tenant.organization.id);
      expect((await visiting.post(fill(path), everyField(csrfToken))).status).toBe(403);
      expect(await stateOf(tenant.organization.id)).toBe(before);
      await plain.database.pool.query(`update members set role = 'admin' where id = $1`, [admin.id]);
    });
  }

  test('from the page itself goes through, by every name of this machine', async () => {
    const { visiting } = ours;
    const port = plainPort();
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`]) {
      const headers = { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin', cookie: visiting.cookie() };
      const response = await rawRequest(port, '/settings/api-keys', headers, body(await visiting.csrfToken()));
      expect([host, response.status]).toEqual([host, 201]);
    }
  });

  test('from the public URL goes through, whatever Host a proxy sets', async () => {
    const headers = { host: 'internal:8080', origin: 'https://api.example.com', 'sec-fetch-site': 'same-origin' };
    const fields = 'email=nobody%40example.com&password=wrong+wrong+wrong';
    expect((await rawRequest(publishedPort, '/settings/sign-in', headers, fields)).status).toBe(422);
  });
});

describe('a form that is none', () => {
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

  test('has more than 20 fields, is broken in its compression, or too large: 4xx, and a page', async () => {
    const { tenant, visiting } = ours;
    const before = await stateOf(tenant.organization.id);
    const csrfToken = await visiting.csrfToken();
    const broken = new Uint8Array(gzipSync(body(csrfToken)).subarray(0, 30));
    const responses = [
      await send(visiting, Array.from({ length: 30 }, (_, index) => `f${index}=1`).join('&')),
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
    expect(await stateOf(tenant.organization.id)).toBe(before);
  });
});
