import { email as emailSchema } from '../../contract/fields.ts';
import { UsageError } from '../config.ts';
import type { Opened } from '../database/open.ts';
import { Member, roles } from '../entities/organization.ts';
import type { Organization, Role } from '../entities/organization.ts';
import { organizationFilter } from '../entities/owned.ts';
import { publicId } from '../entities/uuid.ts';
import { organizationBySlug, printJson, printTable, readWords, required, withDatabase } from './command.ts';
import type { Command } from './command.ts';

export const membersCommand: Command = {
  summary: 'add a member to an organization',
  help: `
Usage: node server/main.ts members add --organization SLUG --email EMAIL --name NAME --role admin|member [--json]

Admins can create, rename and revoke API keys; members can see them. An e-mail address belongs to one member only.
`,
  async run([verb, ...words]) {
    if (verb !== 'add') throw new UsageError('members needs the word add');
    const { values } = readWords(words, {
      organization: { type: 'string' },
      email: { type: 'string' },
      name: { type: 'string' },
      role: { type: 'string' },
      json: { type: 'boolean' },
    });
    const slug = required(values.organization, 'organization');
    const fields = {
      email: checkEmail(required(values.email, 'email')),
      name: checkName(required(values.name, 'name')),
      role: checkRole(required(values.role, 'role')),
    };
    return withDatabase(async (database) => {
      const member = await addMember(database, await organizationBySlug(database, slug), fields);
      const row = { id: publicId('member', member.id), email: member.email, name: member.name, role: member.role };
      if (values.json) printJson(row);
      else printTable([row]);
      return 0;
    });
  },
};

/** A UsageError where the e-mail address belongs to a member already, whatever the organization. */
export async function addMember(
  { orm, pool }: Pick<Opened, 'orm' | 'pool'>,
  organization: Organization,
  fields: { email: string; name: string; role: Role },
): Promise<Member> {
  const emailKey = fields.email.toLowerCase();
  // Across organizations, which is why it is asked below the organization filter.
  const { rows } = await pool.query('select 1 from members where email_key = $1', [emailKey]);
  if (rows.length > 0) throw new UsageError(`${fields.email} is a member already`);
  const em = orm.em.fork();
  em.setFilterParams(organizationFilter, { id: organization.id });
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
