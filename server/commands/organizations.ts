import { plans } from '../../contract/me.ts';
import type { Plan } from '../../contract/me.ts';
import { currency as currencySchema } from '../../contract/fields.ts';
import { UsageError } from '../config.ts';
import type { Opened } from '../database/open.ts';
import { Organization } from '../entities/organization.ts';
import { publicId } from '../records/public-id.ts';
import { organizationBySlug, printJson, printTable, readWords, required, withDatabase } from './command.ts';
import type { Command } from './command.ts';

export const organizationsCommand: Command = {
  summary: 'create and list organizations, and set their plan',
  help: `
Usage: node server/main.ts organizations create --name NAME --slug SLUG [--plan free|team] [--currency USD] [--json]
       node server/main.ts organizations set-plan SLUG free|team [--json]
       node server/main.ts organizations list [--json]

A slug is 1 to 50 of a-z, 0-9 and -, and unique. The plan of a new organization is free unless given; API keys and API
access need team. A changed plan is in force on a running server within a second.
`,
  async run([verb, ...words]) {
    if (verb === 'create') return create(words);
    if (verb === 'set-plan') return setPlan(words);
    if (verb === 'list') return list(words);
    throw new UsageError('organizations needs one of create, set-plan, list');
  },
};

async function create(words: string[]): Promise<number> {
  const { values } = readWords(words, {
    name: { type: 'string' },
    slug: { type: 'string' },
    plan: { type: 'string' },
    currency: { type: 'string' },
    json: { type: 'boolean' },
  });
  const fields = {
    name: checkName(required(values.name, 'name')),
    slug: checkSlug(required(values.slug, 'slug')),
    plan: checkPlan(values.plan ?? 'free'),
    currency: checkCurrency(values.currency ?? 'USD'),
  };
  return withDatabase(async (database) => {
    const organization = await createOrganization(database, fields);
    print([organization], values.json);
    return 0;
  });
}

/** A UsageError where the slug is taken. */
export async function createOrganization(
  { orm }: Pick<Opened, 'orm'>,
  fields: { name: string; slug: string; plan: Plan; currency: string },
): Promise<Organization> {
  const em = orm.em.fork();
  if (await em.findOne(Organization, { slug: fields.slug })) throw new UsageError(`the slug ${fields.slug} is taken`);
  const organization = em.create(Organization, fields);
  await em.flush();
  return organization;
}

async function setPlan(words: string[]): Promise<number> {
  const { values, positionals } = readWords(words, { json: { type: 'boolean' } }, ['SLUG', 'PLAN']);
  const [slug = '', plan = ''] = positionals;
  const chosen = checkPlan(plan);
  return withDatabase(async (database) => {
    await organizationBySlug(database, slug);
    const em = database.orm.em.fork();
    const organization = await em.findOneOrFail(Organization, { slug });
    organization.plan = chosen;
    await em.flush();
    print([organization], values.json);
    return 0;
  });
}

async function list(words: string[]): Promise<number> {
  const { values } = readWords(words, { json: { type: 'boolean' } });
  return withDatabase(async ({ orm }) => {
    const organizations = await orm.em.fork().find(Organization, {}, { orderBy: { createdAt: 'asc', id: 'asc' } });
    print(organizations, values.json, true);
    return 0;
  });
}

function print(organizations: Organization[], json: boolean | undefined, asList = false): void {
  const rows = organizations.map(({ id, name, slug, plan, currency, createdAt }) => ({
    id: publicId('organization', id),
    slug,
    name,
    plan,
    currency,
    createdAt,
  }));
  if (json) printJson(asList ? rows : rows[0]);
  else printTable(rows);
}

function checkName(name: string): string {
  if ([...name].length > 200 || /\p{Cc}/u.test(name)) throw new UsageError('--name must have 1 to 200 characters');
  return name.normalize('NFC');
}

function checkSlug(slug: string): string {
  if (!/^[a-z0-9](?:[a-z0-9-]{0,48}[a-z0-9])?$/.test(slug))
    throw new UsageError('--slug must be 1 to 50 of a-z, 0-9 and -');
  return slug;
}

function checkPlan(plan: string): Plan {
  const found = plans.find((known) => known === plan);
  if (!found) throw new UsageError(`the plan must be one of ${plans.join(', ')}`);
  return found;
}

function checkCurrency(currency: string): string {
  if (!currencySchema.safeParse(currency).success)
    throw new UsageError('--currency must be an ISO 4217 code such as USD');
  return currency;
}
