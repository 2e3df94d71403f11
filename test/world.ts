/** The world of a test: the real server on the real database, and as many organizations as it likes. */
import { afterAll, afterEach, beforeAll, inject } from 'vitest';
import { addMember } from '../server/commands/members.ts';
import { createOrganization } from '../server/commands/organizations.ts';
import { openDatabase } from '../server/database/orm.ts';
import type { Database } from '../server/database/orm.ts';
import { forOrganization } from '../server/database/tenant.ts';
import type { ScopedEntityManager } from '../server/database/tenant.ts';
import { Organization } from '../server/entities/organization.ts';
import type { Member } from '../server/entities/organization.ts';
import { uuidv7 } from '../server/entities/uuid.ts';
import { issueKey } from '../server/keys/keys.ts';
import { serve } from '../server/http/server.ts';
import type { ServeOptions, Serving } from '../server/http/server.ts';
import type { Plan } from '../contract/me.ts';
import { takeBreaks } from './answers.ts';

export type World = {
  database: Database;
  serving: Serving;
  url: string;
  /** What the server logged since the world began. */
  log: Record<string, unknown>[];
  /** A new organization with an admin and a key: it sees nothing of any other test. */
  organization(options?: { plan?: Plan; currency?: string; name?: string }): Promise<Tenant>;
};

export type Answer = { status: number; headers: Headers; body: any; text: string };

export type Tenant = {
  organization: Organization;
  admin: Member;
  key: string;
  /** One raw request; a body that is no string is sent as JSON. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** A further key of the same organization. */
  anotherKey(name?: string): Promise<string>;
  /** The same organization called with another key. */
  as(key: string): Tenant;
  em(): ScopedEntityManager;
};

/** Call at the top of a describe or a file; the world is there in its tests. */
export function useWorld(options: Partial<Omit<ServeOptions, 'database'>> = {}): World {
  const log: World['log'] = [];
  const world: Partial<World> = { log, organization: (wanted) => newOrganization(ready(world), wanted) };
  beforeAll(async () => {
    world.database = await openDatabase({ url: inject('databaseUrl') });
    world.serving = await serve({
      database: world.database,
      log: (entry) => log.push(entry),
      host: '127.0.0.1',
      port: 0,
      ...options,
    });
    world.url = world.serving.url;
  });
  afterEach(() => {
    const [first, ...more] = takeBreaks();
    if (first) throw new Error(`Not as the OpenAPI document says: ${[first, ...more].join('\n')}`);
  });
  afterAll(async () => {
    await world.serving?.close();
    await world.database?.orm.close();
  });
  // Complete once the first test runs; before that only its methods exist.
  return world as World;
}

function ready(world: Partial<World>): World {
  if (!world.database || !world.url) throw new Error('The world is made before the first test, not before.');
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
  const anotherKey = async (keyName = 'test') => (await issueKey(em(), admin, keyName)).raw;
  const key = await anotherKey();
  if (plan !== 'team') {
    const free = await world.database.orm.em.fork().transactional(async (inner) => {
      const found = await inner.findOneOrFail(Organization, { id: organization.id });
      found.plan = plan;
      return found;
    });
    organization.plan = free.plan;
  }
  const as = (raw: string): Tenant => ({
    organization,
    admin,
    key: raw,
    em,
    anotherKey,
    as,
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
