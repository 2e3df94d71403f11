import { UsageError } from '../config.ts';
import type { Opened } from '../database/open.ts';
import { forOrganization } from '../database/tenant.ts';
import type { ScopedEntityManager } from '../database/tenant.ts';
import { Member } from '../entities/organization.ts';
import type { ApiKey } from '../entities/organization.ts';
import { publicId, storedId } from '../records/public-id.ts';
import { issueKey, listKeys, maskedKey, revokeKey } from '../keys/keys.ts';
import { organizationBySlug, printJson, printTable, readWords, required, withDatabase } from './command.ts';
import type { Command } from './command.ts';

export const keysCommand: Command = {
  summary: 'create, list and revoke API keys',
  help: `
Usage: node server/main.ts keys create --organization SLUG --by EMAIL --name NAME
       node server/main.ts keys list --organization SLUG [--json]
       node server/main.ts keys revoke KEY_ID --organization SLUG --by EMAIL [--json]

create prints the raw key, and nothing else, on standard output: it is the only time that it is shown. It is refused
unless EMAIL is an admin of the organization and the organization is on the Team plan. A revoked key stops working on a
running server within a second.
`,
  async run([verb, ...words]) {
    if (verb === 'create') return create(words);
    if (verb === 'list') return list(words);
    if (verb === 'revoke') return revoke(words);
    throw new UsageError('keys needs one of create, list, revoke');
  },
};

async function create(words: string[]): Promise<number> {
  const { values } = readWords(words, {
    organization: { type: 'string' },
    by: { type: 'string' },
    name: { type: 'string' },
  });
  const slug = required(values.organization, 'organization');
  const by = required(values.by, 'by');
  const name = required(values.name, 'name');
  return withDatabase(async (database) => {
    const em = await scoped(database, slug);
    const { raw } = await issueKey(em, await memberByEmail(em, by), name);
    process.stdout.write(`${raw}\n`);
    return 0;
  });
}

async function list(words: string[]): Promise<number> {
  const { values } = readWords(words, { organization: { type: 'string' }, json: { type: 'boolean' } });
  const slug = required(values.organization, 'organization');
  return withDatabase(async (database) => {
    const em = await scoped(database, slug);
    const rows = (await listKeys(em)).map(present);
    if (values.json) printJson(rows);
    else
      printTable(
        rows.map((row) => ({ ...row, lastUsedAt: row.lastUsedAt ?? 'never', revokedAt: row.revokedAt ?? '' })),
      );
    return 0;
  });
}

async function revoke(words: string[]): Promise<number> {
  const options = { organization: { type: 'string' }, by: { type: 'string' }, json: { type: 'boolean' } } as const;
  const { values, positionals } = readWords(words, options, ['KEY_ID']);
  const slug = required(values.organization, 'organization');
  const by = required(values.by, 'by');
  const id = storedId('key', positionals[0] ?? '');
  if (!id) throw new UsageError('KEY_ID must be the id of a key, such as `keys list` prints it');
  return withDatabase(async (database) => {
    const em = await scoped(database, slug);
    const key = await revokeKey(em, await memberByEmail(em, by), id);
    if (values.json) printJson(present(key));
    else process.stdout.write(`Revoked ${maskedKey(key)} (${key.name}).\n`);
    return 0;
  });
}

async function scoped(database: Opened, slug: string): Promise<ScopedEntityManager> {
  const organization = await organizationBySlug(database, slug);
  return forOrganization(database, organization.id).em();
}

async function memberByEmail(em: ScopedEntityManager, email: string): Promise<Member> {
  const member = await em.findOne(Member, { emailKey: email.toLowerCase() });
  if (!member) throw new UsageError(`${email} is not a member of this organization`);
  return member;
}

const present = (key: ApiKey) => ({
  id: publicId('key', key.id),
  name: key.name,
  maskedKey: maskedKey(key),
  createdAt: key.createdAt,
  lastUsedAt: key.lastUsedAt,
  revokedAt: key.revokedAt,
});
