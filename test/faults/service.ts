/** The service on a database that a test may break. */
import { randomUUID } from 'node:crypto';
import { addMember } from '../../server/accounts/members.ts';
import { createOrganization } from '../../server/accounts/organizations.ts';
import { migrate } from '../../server/database/migrate.ts';
import { openDatabase } from '../../server/database/orm.ts';
import type { Database } from '../../server/database/orm.ts';
import { forOrganization } from '../../server/database/tenant.ts';
import type { Organization } from '../../server/entities/organization.ts';
import { serve } from '../../server/commands/serve/server.ts';
import type { ServeOptions } from '../../server/commands/serve/server.ts';
import { issueKey } from '../../server/keys/issue.ts';
import { ownUploadFolder } from '../upload-folder.ts';

export type Service = {
  database: Database;
  url: string;
  organization: Organization;
  /** Keys of several organizations, because the statements of one organization run five at a time. */
  keys: string[];
  log: Record<string, unknown>[];
  close(): Promise<void>;
};

/** Creates an organization on the Team plan, with up to 25 API keys. */
export async function issueKeys(database: Database, count: number) {
  const slug = `faults-${randomUUID()}`;
  const organization = await createOrganization(database, { name: 'Faults', slug, plan: 'team', currency: 'USD' });
  const fields = { email: `${slug}@example.com`, name: 'Ann', role: 'admin' } as const;
  const admin = await addMember(database, organization, fields);
  const keys: string[] = [];
  for (let index = 0; index < count; index += 1) {
    keys.push(
      (await issueKey(forOrganization(database, organization.id).em(), admin, { name: `Writer ${index}` })).raw,
    );
  }
  return { organization, admin, keys };
}

const unlimited = { take: () => ({ accepted: true, remaining: 99, resetSeconds: 60 }) };
const organizations = 4;

/** Starts the service in this process, without a rate limit. */
export async function startService(url: string, options: Partial<ServeOptions> = {}): Promise<Service> {
  const database = await openDatabase({ url });
  await migrate(database);
  const log: Record<string, unknown>[] = [];
  const uploads = await ownUploadFolder();
  const serving = await serve({
    database,
    log: (entry) => log.push(entry),
    host: '127.0.0.1',
    port: 0,
    limiter: unlimited,
    uploadFolder: uploads.path,
    ...options,
  });
  const { organization, keys } = await issueKeys(database, 1);
  while (keys.length < organizations) keys.push(...(await issueKeys(database, 1)).keys);
  const close = async () => {
    await serving.close();
    await database.orm.close();
    await uploads.remove();
  };
  return { database, url: serving.url, organization, keys, log, close };
}
