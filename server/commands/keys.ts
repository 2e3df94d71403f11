import { Argument, Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import type { ApiKey } from '../entities/organization.ts';
import { expiryDays, issueKey, parseExpiry, replaceKey, replacementPeriods } from '../keys/issue.ts';
import type { ReplacementPeriod } from '../keys/issue.ts';
import { isLive, listKeys, maskedKey } from '../keys/list.ts';
import { renameKey, revokeKey } from '../keys/revoke.ts';
import { publicId } from '../records/public-id.ts';
import { adminCommand, asMember, inOrganization, organizationCommand } from './acting.ts';
import { idOf, jsonOption, print, printList, text } from './command.ts';
import type { Declare } from './command.ts';
import { printLines, warn } from './terminal.ts';

// Object.keys() loses the types of a constant's keys.
const periods = Object.keys(replacementPeriods) as ReplacementPeriod[];

export const declare: Declare = (command) => {
  command.description(
    `\`create\` and \`replace\` print only the raw key to standard output. It is never shown again. On a running server, a
revoked key stops working within a second.`,
  );
  organizationCommand(command, 'list', 'list all keys of an organization, without their secrets')
    .addOption(jsonOption())
    .action(({ organization, json }) =>
      inOrganization(organization, async (tenant) => {
        const keys = await listKeys(tenant.em());
        printList(json, keys.map(present), keys.map(presentRow));
      }),
    );
  adminCommand(command, 'create', 'create a key; needs the Team plan')
    .requiredOption('--name <NAME>', 'what the key is for', text)
    .addOption(new Option('--expires <DAYS>', 'days until it stops working').choices(expiryDays.map(String)))
    .action(({ name, expires = '', ...options }) =>
      asMember(options, async (em, member) =>
        printLines((await issueKey(em, member, { name, expiresInMs: parseExpiry(expires) })).raw),
      ),
    );
  keyCommand(command, 'rename', 'change the name of a key')
    .requiredOption('--name <NAME>', 'the new name', text)
    .addOption(jsonOption())
    .action((id, options) =>
      asMember(options, async (em, member) => {
        const key = await renameKey(em, member, id, options.name);
        print(options.json, present(key), `${maskedKey(key)} is now named ${key.name}.`);
      }),
    );
  declareEnds(command);
};

const keyCommand = (command: Command, name: string, summary: string) =>
  adminCommand(command, name, summary).addArgument(
    new Argument('<KEY_ID>', 'the id of the key, as `keys list` prints it').argParser(
      idOf('key', 'a key, as `keys list` prints it'),
    ),
  );

function declareEnds(command: Command): void {
  keyCommand(command, 'replace', 'create a key with the same name, and let the old one work for a while')
    .addOption(
      new Option('--keep <PERIOD>', 'how long the old key keeps working').choices(periods).makeOptionMandatory(),
    )
    .action((id, options) =>
      asMember(options, async (em, member) => {
        const { raw, replaced } = await replaceKey(em, member, { id, period: options.keep });
        printLines(raw);
        warn(`The old key, ${maskedKey(replaced)}, works until ${replaced.endsAt}.`);
      }),
    );
  keyCommand(command, 'revoke', 'revoke a key immediately')
    .addOption(jsonOption())
    .action((id, options) =>
      asMember(options, async (em, member) => {
        const key = await revokeKey(em, member, id);
        print(options.json, present(key), `Revoked ${maskedKey(key)} (${key.name}).`);
      }),
    );
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

function presentRow(key: ApiKey) {
  const { id, name, maskedKey: masked, createdAt, lastUsedAt } = present(key);
  const ended = key.revokedAt ? 'revoked' : 'ended';
  const status = isLive(key) ? 'active' : ended;
  return { id, name, key: masked, createdAt, lastUsedAt: lastUsedAt ?? 'never', status, until: key.endsAt };
}
