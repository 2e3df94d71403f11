import { text } from 'node:stream/consumers';
import { email as emailSchema } from '../../contract/fields.ts';
import { readConfig, UsageError } from '../config.ts';
import type { Opened } from '../database/open.ts';
import { forOrganization } from '../database/tenant.ts';
import { memberWithEmail } from '../accounts/sign-in-tables.ts';
import { Member, roles } from '../entities/organization.ts';
import type { Organization, Role } from '../entities/organization.ts';
import { publicId } from '../records/public-id.ts';
import { linkHours, passwordFault, passwordPath, setPassword } from '../accounts/sign-in.ts';
import { organizationBySlug, printJson, printTable, readWords, required, withDatabase } from './command.ts';
import type { Command } from './command.ts';

export const membersCommand: Command = {
  summary: 'add a member to an organization, and let a member in',
  help: `
Usage: node server/main.ts members add --organization SLUG --email EMAIL --name NAME --role admin|member
                                       [--password-stdin] [--json]
       node server/main.ts members password EMAIL [--password-stdin] [--json]

Admins can create, rename and revoke API keys; members can see them. An e-mail address belongs to one member only.
Both print a link on which the member chooses a password for the settings pages, once and within ${linkHours} hours; with
--password-stdin the password is the first line of standard input instead. A new password ends the member's sessions.
The link begins with PUBLIC_URL, or with http://localhost and PORT.
`,
  async run([verb, ...words]) {
    if (verb === 'add') return add(words);
    if (verb === 'password') return password(words);
    throw new UsageError('members needs one of add, password');
  },
};

const passwordOptions = { 'password-stdin': { type: 'boolean' }, json: { type: 'boolean' } } as const;

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
    email: checkEmail(required(values.email, 'email')),
    name: checkName(required(values.name, 'name')),
    role: checkRole(required(values.role, 'role')),
  };
  const typed = values['password-stdin'] ? await readPassword() : undefined;
  return withDatabase(async (database) => {
    const member = await addMember(database, await organizationBySlug(database, slug), fields);
    print(member, await letIn(database, member, typed), values.json);
    return 0;
  });
}

async function password(words: string[]): Promise<number> {
  const { values, positionals } = readWords(words, passwordOptions, ['EMAIL']);
  const [email = ''] = positionals;
  const typed = values['password-stdin'] ? await readPassword() : undefined;
  return withDatabase(async (database) => {
    const known = await memberWithEmail(database.pool, email);
    if (!known) throw new UsageError(`${email} is not a member of any organization`);
    const em = forOrganization(database, known.organizationId).em();
    const member = await em.findOneOrFail(Member, { id: known.id });
    print(member, await letIn(database, member, typed), values.json);
    return 0;
  });
}

/** The link to a page where a password is chosen; null where the password was given. */
async function letIn(database: Opened, member: Member, typed: string | undefined): Promise<string | null> {
  if (typed !== undefined) {
    await setPassword(database, member, typed);
    return null;
  }
  const { PUBLIC_URL, PORT } = readConfig();
  return (PUBLIC_URL?.replace(/\/+$/, '') ?? `http://localhost:${PORT}`) + (await passwordPath(database, member));
}

function print({ id, email, name, role }: Member, passwordLink: string | null, json: boolean | undefined): void {
  const row = { id: publicId('member', id), email, name, role };
  if (json) return printJson({ ...row, passwordLink });
  printTable([row]);
  const line =
    passwordLink === null
      ? 'The password is set.'
      : `Choose a password, once and within ${linkHours} hours:\n\n  ${passwordLink}\n`;
  process.stdout.write(`\n${line}\n`);
}

async function readPassword(): Promise<string> {
  const [line = ''] = (await text(process.stdin)).split(/\r?\n/, 1);
  const fault = passwordFault(line);
  if (fault) throw new UsageError(`the password on standard input ${fault}`);
  return line;
}

/** A UsageError where the e-mail address belongs to a member already, whatever the organization. */
export async function addMember(
  database: Pick<Opened, 'orm' | 'pool'>,
  organization: Organization,
  fields: { email: string; name: string; role: Role },
): Promise<Member> {
  const emailKey = fields.email.toLowerCase();
  // Across organizations, which is why it is asked below the organization filter.
  const { rows } = await database.pool.query('select 1 from members where email_key = $1', [emailKey]);
  if (rows.length > 0) throw new UsageError(`${fields.email} is a member already`);
  const em = forOrganization(database, organization.id).em();
  const member = em.create(Member, { ...fields, emailKey });
  await em.flush();
  return member;
}

function checkEmail(email: string): string {
  const result = emailSchema({ description: '' }).safeParse(email);
  if (!result.success) throw new UsageError('--email must be one e-mail address such as ana@example.com');
  return result.data;
}

function checkName(name: string): string {
  if ([...name].length > 200 || /\p{Cc}/u.test(name)) throw new UsageError('--name must have 1 to 200 characters');
  return name.normalize('NFC');
}

function checkRole(role: string): Role {
  const found = roles.find((known) => known === role);
  if (!found) throw new UsageError(`--role must be one of ${roles.join(', ')}`);
  return found;
}
