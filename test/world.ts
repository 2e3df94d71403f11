/** What a test runs against: the real server on the real database, and any number of organizations. */
import { afterAll, afterEach, beforeAll, inject } from 'vitest';
import { addMember } from '../server/accounts/members.ts';
import { createOrganization } from '../server/accounts/organizations.ts';
import { openDatabase } from '../server/database/orm.ts';
import type { OpenedDatabase, Pooler } from '../server/database/orm.ts';
import { forOrganization } from '../server/database/tenant.ts';
import type { ScopedEntityManager } from '../server/database/tenant.ts';
import type { Member, Organization } from '../server/entities/organization.ts';
import { uuidv7 } from '../server/entities/uuid.ts';
import { issueKey } from '../server/keys/issue.ts';
import { serve } from '../server/commands/serve/server.ts';
import type { ServeOptions, Serving } from '../server/commands/serve/server.ts';
import { createClient } from '../client/index.ts';
import type { Client } from '../client/index.ts';
import type { Plan } from '../contract/me.ts';
import { takeBreaks } from './answers.ts';
import { prepare } from './citus/cluster.ts';
import { migratedDatabase } from './database.ts';
import { ownUploadFolder } from './upload-folder.ts';

export type World = {
  database: OpenedDatabase;
  serving: Serving;
  url: string;
  uploadFolder: string;
  /** What the server has logged. */
  log: Record<string, unknown>[];
  /** A new organization with an admin and a key; no other test sees it. */
  organization(options?: { plan?: Plan; currency?: string; name?: string }): Promise<Tenant>;
};

export type Answer = { status: number; headers: Headers; body: any; text: string };

export type Tenant = {
  organization: Organization;
  admin: Member;
  key: string;
  /** The typed client with this organization's key; it does not retry. */
  client: Client;
  /** One raw request, for what the client cannot send; a body that is not a string is sent as JSON. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Another key of the same organization. */
  anotherKey(name?: string): Promise<string>;
  /** The same organization called with another key. */
  as(key: string): Tenant;
  em(): ScopedEntityManager;
};

type WorldOptions = Partial<Omit<ServeOptions, 'database'>> & {
  /** A database that no other test file sends transactions to. */
  ownDatabase?: boolean;
  /** A pooler in front of the database, for the statements of requests. */
  pooler?: Pooler;
};

/** Call at the top of a file or a describe; the server runs during its tests. */
export function useWorld(wanted: WorldOptions = {}): World {
  let own: Awaited<ReturnType<typeof migratedDatabase>> | undefined;
  let uploads: Awaited<ReturnType<typeof ownUploadFolder>> | undefined;
  const log: World['log'] = [];
  const world: Partial<World> = { log, organization: (organization) => newOrganization(ready(world), organization) };
  beforeAll(async () => {
    // Read here, so an earlier hook can still add to it.
    const { ownDatabase: alone = false, pooler, ...options } = wanted;
    if (alone) own = await migratedDatabase();
    const database = await openDatabase({ url: own?.url ?? inject('databaseUrl') }, { pooler });
    if (alone) await prepare(database);
    world.database = database;
    uploads = await ownUploadFolder();
    world.uploadFolder = uploads.path;
    world.serving = await serve({
      database,
      log: (entry) => log.push(entry),
      host: '127.0.0.1',
      port: 0,
      uploadFolder: uploads.path,
      ...options,
    });
    world.url = world.serving.url;
  });
  afterEach(() => {
    const [first, ...more] = takeBreaks();
    if (first) throw new Error(`Responses differ from the OpenAPI document: ${[first, ...more].join('\n')}`);
  });
  afterAll(async () => {
    await world.serving?.close();
    await world.database?.orm.close();
    await own?.drop();
    await uploads?.remove();
  });
  // Complete once the first test runs; until then only its methods exist.
  return world as World;
}

function ready(world: Partial<World>): World {
  if (!world.database || !world.url)
    throw new Error('The server is not running yet: call this inside a test or a hook.');
  return world as World;
}

async function newOrganization(
  world: World,
  { plan = 'team', currency = 'USD', name = 'Acme' }: { plan?: Plan; currency?: string; name?: string } = {},
): Promise<Tenant> {
  const slug = `t-${uuidv7().slice(-30)}`;
  const organization = await createOrganization(world.database, { name, slug, plan: 'team', currency });
  const admin = await addMember(world.database, organization, {
    email: `${slug}@example.com`,
    name: 'Ann',
    role: 'admin',
  });
  const { em } = forOrganization(world.database, organization.id);
  const anotherKey = async (keyName = 'test') => (await issueKey(em(), admin, { name: keyName })).raw;
  const key = await anotherKey();
  if (plan !== 'team') {
    await world.database.pool.query('update organizations set plan = $2 where id = $1', [organization.id, plan]);
    organization.plan = plan;
  }
  const as = (raw: string): Tenant => ({
    organization,
    admin,
    key: raw,
    em,
    anotherKey,
    as,
    client: createClient({ baseUrl: world.url, apiKey: raw, maxRetries: 0 }),
    call: caller(world.url, raw),
  });
  return as(key);
}

function caller(url: string, key: string): Tenant['call'] {
  return async (method, path, body, headers = {}) => {
    const json = body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array);
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: json ? JSON.stringify(body) : (body as string) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: text === '' ? undefined : JSON.parse(text),
    };
  };
}
