import { text } from 'node:stream/consumers';
import { addMember, changeRole, listMembers, removeMember } from '../accounts/members.ts';
import { passwordProblem } from '../accounts/passwords.ts';
import { memberWithEmail, readSignInReady } from '../accounts/sign-in-tables.ts';
import { linkHours, passwordPath, setPassword } from '../accounts/sign-in.ts';
import { readConfig, UsageError } from '../config.ts';
import type { Opened } from '../database/open.ts';
import { forOrganization } from '../database/tenant.ts';
import type { ScopedEntityManager } from '../database/tenant.ts';
import { Member, roles } from '../entities/organization.ts';
import type { Role } from '../entities/organization.ts';
import { writeEvent } from '../records/audit-log.ts';
import { publicId } from '../records/public-id.ts';
import { organizationBySlug, printTable, readWords, required, withDatabase } from './command.ts';
import type { Command } from './command.ts';
import { say, sayJson } from './terminal.ts';

export const membersCommand: Command = {
  help: `
Usage: npx proposal-api members list --organization SLUG [--json]
       npx proposal-api members add --organization SLUG --email EMAIL --name NAME --role admin|member
                                    [--password-stdin] [--json]
       npx proposal-api members password EMAIL [--password-stdin] [--json]
       npx proposal-api members role EMAIL admin|member [--json]
       npx proposal-api members remove EMAIL [--json]

Admins create, replace and revoke API keys and manage members; members can see keys. An email address belongs to one
member only. add and password print a link on which the member chooses a password for the settings pages, once and within
${linkHours} hours; with --password-stdin the password is the first line of standard input instead. A new password ends the
member's sessions, and a removed member's sessions end at once. The last admin cannot be removed. The link begins with
PUBLIC_URL, or with http://localhost and PORT.
`,
  async run([verb, ...words]) {
    if (verb === 'list') return list(words);
    if (verb === 'add') return add(words);
    if (verb === 'password') return password(words);
    if (verb === 'role') return role(words);
    if (verb === 'remove') return remove(words);
    throw new UsageError('members needs one of list, add, password, role, remove');
  },
};

const passwordOptions = { 'password-stdin': { type: 'boolean' }, json: { type: 'boolean' } } as const;

async function list(words: string[]): Promise<number> {
  const { values } = readWords(words, { organization: { type: 'string' }, json: { type: 'boolean' } });
  const slug = required(values.organization, 'organization');
  return withDatabase(async (database) => {
    const organization = await organizationBySlug(database, slug);
    const members = await listMembers(forOrganization(database, organization.id).em());
    const ready = await readSignInReady(
      database.pool,
      members.map(({ emailKey }) => emailKey),
    );
    const rows = members.map((member) => ({
      ...present(member),
      canSignIn: ready.has(member.emailKey),
      lastSignedInAt: member.lastSignedInAt,
    }));
    if (values.json) sayJson(rows);
    else {
      printTable(
        rows.map(({ canSignIn, lastSignedInAt, ...row }) => ({
          ...row,
          lastSignedInAt: lastSignedInAt ?? (canSignIn ? 'never' : 'invited'),
        })),
      );
    }
    return 0;
  });
}

async function add(words: string[]): Promise<number> {
  const { values } = readWords(words, {
    organization: { type: 'string' },
    email: { type: 'string' },
    name: { type: 'string' },
    role: { type: 'string' },
    ...passwordOptions,
  });
  const slug = required(values.organization, 'organization');
  const fields = {
    email: required(values.email, 'email'),
    name: required(values.name, 'name'),
    role: checkRole(required(values.role, 'role')),
  };
  const typed = values['password-stdin'] ? await readPassword() : undefined;
  return withDatabase(async (database) => {
    const member = await addMember(database, await organizationBySlug(database, slug), fields);
    return printWithLink(member, await giveAccess(database, member, typed), values.json);
  });
}

async function password(words: string[]): Promise<number> {
  const { values, positionals } = readWords(words, passwordOptions, ['EMAIL']);
  const typed = values['password-stdin'] ? await readPassword() : undefined;
  return withDatabase(async (database) => {
    const { member, em } = await memberByEmail(database, positionals[0] ?? '');
    const link = await giveAccess(database, member, typed);
    const action = link === null ? 'password_changed' : 'password_link_issued';
    await writeEvent(em, { action, memberId: null, subjectId: member.id });
    return printWithLink(member, link, values.json);
  });
}

async function role(words: string[]): Promise<number> {
  const { values, positionals } = readWords(words, { json: { type: 'boolean' } }, ['EMAIL', 'ROLE']);
  const chosen = checkRole(positionals[1] ?? '');
  return withDatabase(async (database) => {
    const { member, em } = await memberByEmail(database, positionals[0] ?? '');
    const changed = await changeRole(em, null, member, chosen);
    if (values.json) sayJson(present(changed));
    else printTable([present(changed)]);
    return 0;
  });
}

async function remove(words: string[]): Promise<number> {
  const { values, positionals } = readWords(words, { json: { type: 'boolean' } }, ['EMAIL']);
  return withDatabase(async (database) => {
    const { member, em } = await memberByEmail(database, positionals[0] ?? '');
    const removed = await removeMember(em, null, member);
    if (values.json) sayJson({ ...present(removed), removedAt: removed.removedAt });
    else say(`Removed ${removed.name} (${removed.email}). Their sessions have ended.`);
    return 0;
  });
}

async function memberByEmail(database: Opened, email: string): Promise<{ member: Member; em: ScopedEntityManager }> {
  const known = await memberWithEmail(database.pool, email);
  if (!known) throw new UsageError(`${email} is not a member of any organization`);
  const em = forOrganization(database, known.organizationId).em();
  return { member: await em.findOneOrFail(Member, { id: known.id }), em };
}

/** The link to choose a password; null if the password was given. */
async function giveAccess(database: Opened, member: Member, typed: string | undefined): Promise<string | null> {
  if (typed !== undefined) {
    await setPassword(database, member, typed);
    return null;
  }
  const { PUBLIC_URL, PORT } = readConfig();
  return (
    (PUBLIC_URL?.replace(/(?<!\/)\/+$/, '') ?? `http://localhost:${PORT}`) + (await passwordPath(database, member))
  );
}

const present = ({ id, email, name, role: current }: Member) => ({
  id: publicId('member', id),
  email,
  name,
  role: current,
});

function printWithLink(member: Member, passwordLink: string | null, json: boolean | undefined): number {
  if (json) sayJson({ ...present(member), passwordLink });
  else {
    printTable([present(member)]);
    const line =
      passwordLink === null
        ? 'The password is set.'
        : `Choose a password, once and within ${linkHours} hours:\n\n  ${passwordLink}\n`;
    process.stdout.write(`\n${line}\n`);
  }
  return 0;
}

async function readPassword(): Promise<string> {
  const [line = ''] = (await text(process.stdin)).split(/\r?\n/, 1);
  const problem = await passwordProblem(line);
  if (problem) throw new UsageError(`The password on standard input cannot be used. ${problem}`);
  return line;
}

function checkRole(typed: string): Role {
  const found = roles.find((known) => known === typed);
  if (!found) throw new UsageError(`the role must be one of ${roles.join(', ')}`);
  return found;
}
