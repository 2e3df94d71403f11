import { UsageError } from '../config.ts';
import type { Opened } from '../database/open.ts';
import { forOrganization } from '../database/tenant.ts';
import type { ScopedEntityManager } from '../database/tenant.ts';
import { Member } from '../entities/organization.ts';
import type { ApiKey } from '../entities/organization.ts';
import { issueKey, replaceKey, replacementPeriods } from '../keys/issue.ts';
import type { ReplacementPeriod } from '../keys/issue.ts';
import { isLive, listKeys, maskedKey } from '../keys/list.ts';
import { renameKey, revokeKey } from '../keys/revoke.ts';
import { publicId, storedId } from '../records/public-id.ts';
import { organizationBySlug, printTable, readWords, required, withDatabase } from './command.ts';
import type { Command } from './command.ts';
import { say, sayJson, warn } from './terminal.ts';

export const keysCommand: Command = {
  help: `
Usage: npx proposal-api keys list --organization SLUG [--json]
       npx proposal-api keys create --organization SLUG --by EMAIL --name NAME
       npx proposal-api keys rename KEY_ID --organization SLUG --by EMAIL --name NAME [--json]
       npx proposal-api keys replace KEY_ID --organization SLUG --by EMAIL --keep hour|day|week
       npx proposal-api keys revoke KEY_ID --organization SLUG --by EMAIL [--json]

create and replace print the raw key, and nothing else, on standard output: it is the only time that it is shown. EMAIL
must be an admin of the organization; a new key needs the Team plan. A replaced key works for as long as --keep says. On a
running server a revoked key stops working within a second.
`,
  async run([verb, ...words]) {
    if (verb === 'list') return list(words);
    if (verb === 'create') return create(words);
    if (verb === 'rename') return rename(words);
    if (verb === 'replace') return replace(words);
    if (verb === 'revoke') return revoke(words);
    throw new UsageError('keys needs one of list, create, rename, replace, revoke');
  },
};

const actorOptions = { organization: { type: 'string' }, by: { type: 'string' } } as const;

async function create(words: string[]): Promise<number> {
  const { values } = readWords(words, { ...actorOptions, name: { type: 'string' } });
  const name = required(values.name, 'name');
  return asMember(values, async (em, member) => {
    const { raw } = await issueKey(em, member, name);
    say(raw);
  });
}

async function list(words: string[]): Promise<number> {
  const { values } = readWords(words, { organization: { type: 'string' }, json: { type: 'boolean' } });
  const slug = required(values.organization, 'organization');
  return withDatabase(async (database) => {
    const keys = await listKeys(await scoped(database, slug));
    if (values.json) sayJson(keys.map(present));
    else printTable(keys.map(presentRow));
    return 0;
  });
}

async function rename(words: string[]): Promise<number> {
  const options = { ...actorOptions, name: { type: 'string' }, json: { type: 'boolean' } } as const;
  const { values, positionals } = readWords(words, options, ['KEY_ID']);
  const [id, name] = [checkId(positionals), required(values.name, 'name')];
  return asMember(values, async (em, member) => {
    const key = await renameKey(em, member, id, name);
    if (values.json) sayJson(present(key));
    else say(`${maskedKey(key)} is now named ${key.name}.`);
  });
}

async function replace(words: string[]): Promise<number> {
  const { values, positionals } = readWords(words, { ...actorOptions, keep: { type: 'string' } }, ['KEY_ID']);
  const [id, period] = [checkId(positionals), checkPeriod(required(values.keep, 'keep'))];
  return asMember(values, async (em, member) => {
    const { raw, replaced } = await replaceKey(em, member, { id, period });
    say(raw);
    warn(`The old key, ${maskedKey(replaced)}, works until ${replaced.endsAt}.`);
  });
}

async function revoke(words: string[]): Promise<number> {
  const { values, positionals } = readWords(words, { ...actorOptions, json: { type: 'boolean' } }, ['KEY_ID']);
  const id = checkId(positionals);
  return asMember(values, async (em, member) => {
    const key = await revokeKey(em, member, id);
    if (values.json) sayJson(present(key));
    else say(`Revoked ${maskedKey(key)} (${key.name}).`);
  });
}

/** Runs as the member that --by names. */
async function asMember(
  values: { organization?: string | undefined; by?: string | undefined },
  work: (em: ScopedEntityManager, member: Member) => Promise<void>,
): Promise<number> {
  const [slug, email] = [required(values.organization, 'organization'), required(values.by, 'by')];
  return withDatabase(async (database) => {
    const em = await scoped(database, slug);
    const member = await em.findOne(Member, { emailKey: email.toLowerCase(), removedAt: null });
    if (!member) throw new UsageError(`${email} is not a member of this organization`);
    await work(em, member);
    return 0;
  });
}

async function scoped(database: Opened, slug: string): Promise<ScopedEntityManager> {
  const organization = await organizationBySlug(database, slug);
  return forOrganization(database, organization.id).em();
}

function checkId([typed = '']: string[]): string {
  const id = storedId('key', typed);
  if (!id) throw new UsageError('KEY_ID must be the id of a key, as `keys list` prints it');
  return id;
}

function checkPeriod(typed: string): ReplacementPeriod {
  const isKnown = (name: string): name is ReplacementPeriod => Object.hasOwn(replacementPeriods, name);
  if (!isKnown(typed)) throw new UsageError(`--keep must be one of ${Object.keys(replacementPeriods).join(', ')}`);
  return typed;
}

const present = (key: ApiKey) => ({
  id: publicId('key', key.id),
  name: key.name,
  maskedKey: maskedKey(key),
  createdAt: key.createdAt,
  lastUsedAt: key.lastUsedAt,
  revokedAt: key.revokedAt,
  endsAt: key.endsAt,
});

function presentRow(key: ApiKey): Record<string, string> {
  const { id, name, maskedKey: masked, createdAt, lastUsedAt } = present(key);
  const ended = key.revokedAt ? 'revoked' : 'ended';
  const status = isLive(key) ? 'active' : ended;
  return { id, name, key: masked, createdAt, lastUsedAt: lastUsedAt ?? 'never', status, until: key.endsAt ?? '' };
}
