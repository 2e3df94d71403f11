/** Every settings route, taken from the router itself, and an organization that each of them could change. */
import { readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { poolCapacity } from '../../server/database/open.ts';
import { openDatabase } from '../../server/database/orm.ts';
import type { Member } from '../../server/entities/organization.ts';
import { Uploads } from '../../server/uploads/uploads.ts';
import { KeyDirectory } from '../../server/keys/directory.ts';
import { listKeys } from '../../server/keys/list.ts';
import { UsageLog } from '../../server/keys/usage.ts';
import { createShares } from '../../server/limits/concurrency.ts';
import { memoryRateLimiter } from '../../server/limits/rate-limit.ts';
import { publicId } from '../../server/records/public-id.ts';
import { settingsRouter } from '../../server/web/settings/routes.ts';
import { createEndpoint } from '../../server/webhooks/endpoints.ts';
import { proposal } from '../records.ts';
import { parts as webhookParts } from '../webhooks/scene.ts';
import type { Tenant, World } from '../world.ts';
import { signIn, someone, turnOnTwoFactor } from './visiting.ts';
import type { Visit } from './visiting.ts';

/** The paths of all routes with this method. */
export async function pathsOf(method: 'get' | 'post'): Promise<string[]> {
  const database = await openDatabase({ url: inject('databaseUrl') });
  const ignore = () => {};
  const usage = new UsageLog({ pool: database.pool, onError: ignore });
  const keys = new KeyDirectory(database.pool, () => 0);
  const uploads = new Uploads({ database, folder: join(tmpdir(), 'proposal-api-no-uploads'), report: () => ignore });
  const parts = {
    database,
    keys,
    usage,
    uploads,
    webhooks: webhookParts,
    singleSignOn: { issuer: 'http://localhost:1', clientId: 'none', clientSecret: 'none' },
    secure: false,
    baseUrl: 'http://localhost',
    onError: ignore,
    shares: createShares(poolCapacity(database)),
    limiter: memoryRateLimiter(() => 0),
  };
  const router = settingsRouter({ ...parts, secret: 'not much of a secret, but long enough' });
  const paths = router.stack.flatMap(({ route }) =>
    route && route.stack.some((handler) => handler.method === method) ? [route.path] : [],
  );
  await Promise.all([usage.close(), uploads.close()]);
  await database.orm.close();
  return paths;
}

/** Everything in the database, and every uploaded file, that a form could change. */
export async function stateOf({ database, uploadFolder }: World, organizationId: string): Promise<string> {
  const { rows } = await database.pool.query<{ uploads: { id: string }[] | null }>(
    // The last use of a key is written a moment later.
    `select (select json_agg(to_jsonb(k) - 'last_used_at' order by k.id) from api_keys k where organization_id = $1) as keys,
       (select json_agg(m order by m.id) from members m where organization_id = $1) as members,
       (select json_agg(a.password order by a.id) from sign_in."account" a join sign_in."user" u on u.id = a."userId"
          join members m on m.email_key = u.email where m.organization_id = $1) as passwords,
       (select json_agg(s."endedFor" order by s.id) from sign_in."session" s join sign_in."user" u on u.id = s."userId"
          join members m on m.email_key = u.email where m.organization_id = $1) as sessions,
       (select json_agg(v.identifier order by v.identifier) from sign_in."user" u join members m on m.email_key = u.email
          join sign_in."verification" v on v.value in (m.id::text, u.id::text) where m.organization_id = $1) as links,
       (select json_agg(f order by f.id) from sign_in.two_factor f join sign_in.two_factor_members t on t.two_factor_id = f.id
          join members m on m.id = t.member_id where m.organization_id = $1) as two_factor,
       (select requires_two_factor from organizations where id = $1) as policy,
       (select count(*) from sign_in.codes where organization_id = $1) as codes,
       (select json_agg(u order by u.id) from uploads u where organization_id = $1) as uploads,
       (select json_agg(e order by e.id) from webhook_endpoints e where organization_id = $1) as endpoints,
       (select count(*) from audit_events where organization_id = $1 and kind = 'change') as changes`,
    [organizationId],
  );
  const ids = rows.flatMap(({ uploads }) => uploads ?? []).map(({ id }) => id);
  const files = (await readdir(uploadFolder)).filter((name) => ids.some((id) => name.startsWith(id)));
  return JSON.stringify({ rows, files: files.toSorted() });
}

export type Scene = { tenant: Tenant; admin: Member; member: Member; fill(path: string): string; visiting: Visit };

/** An uploaded file whose import could be started. */
async function checkedUpload(
  { database, uploadFolder }: World,
  { organization }: Tenant,
  { id }: Member,
): Promise<string> {
  const { rows } = await database.pool.query<{ id: string }>(
    `insert into uploads (organization_id, id, member_id, kind, file_name, mapping, state, rows)
     values ($1, gen_random_uuid(), $2, 'customers', 'c.csv', '{}', 'checked', '[]') returning id`,
    [organization.id, id],
  );
  const uploadId = rows[0]?.id ?? '';
  await writeFile(join(uploadFolder, `${uploadId}.csv`), 'externalId,name\nC-1,Ana\n');
  return uploadId;
}

async function endpointOf({ em, admin }: Tenant): Promise<string> {
  const fields = { name: 'E', url: 'https://127.0.0.1/', events: ['item.created'] };
  const { endpoint } = await createEndpoint(em(), admin, fields, webhookParts);
  return publicId('endpoint', endpoint.id);
}

/** `nowMs`: the time of the server, unless it is that of the database. */
export async function scene(world: World, nowMs = Date.now()): Promise<Scene> {
  const tenant = await world.organization();
  const admin = await someone(world, tenant, 'admin');
  const other = await someone(world, tenant, 'member');
  // With a session and two-factor authentication, which a form for another member could end.
  await turnOnTwoFactor(await signIn(world, other), nowMs);
  const [key] = await listKeys(tenant.em());
  const [memberId, keyId] = [publicId('member', other.id), publicId('key', key?.id ?? '')];
  const uploadId = await checkedUpload(world, tenant, other);
  const { body: customer } = await tenant.call('POST', '/v1/customers', { name: 'Ana Trujillo' });
  const { body: item } = await tenant.call('POST', '/v1/items', { type: 'service', name: 'Repair', unitPrice: '80' });
  const ids: Record<string, string> = {
    '/members': memberId,
    '/imports': uploadId,
    '/customers': customer.id,
    '/items': item.id,
    '/webhooks': await endpointOf(tenant),
    '/proposals': await proposal(tenant, { customer: customer.id }),
  };
  const idIn = (path: string) => ids[/^\/[\w-]+/.exec(path)?.[0] ?? ''] ?? keyId;
  const fill = (path: string) => `/settings${path.replace(':id', idIn(path))}`;
  return { tenant, admin, member: other, fill, visiting: await signIn(world, admin) };
}

/** Pages that need no session. */
export const openPages = [
  '/',
  '/sign-in',
  '/sign-in/code',
  '/password',
  '/forgot-password',
  '/oidc',
  '/oidc/callback',
  '/assets/:file',
];
