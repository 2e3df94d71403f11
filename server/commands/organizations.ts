import { currencyInput as currencySchema } from '../../contract/fields.ts';
import { createOrganization, listOrganizations, renameOrganization, setPlan } from '../accounts/organizations.ts';
import { UsageError } from '../config.ts';
import { plans } from '../entities/organization.ts';
import type { Organization } from '../entities/organization.ts';
import { publicId } from '../records/public-id.ts';
import { organizationBySlug, printTable, readWords, required, withDatabase } from './command.ts';
import type { Command } from './command.ts';
import { sayJson } from './terminal.ts';

type Plan = Organization['plan'];

export const organizationsCommand: Command = {
  help: `
Usage: npx proposal-api organizations list [--json]
       npx proposal-api organizations create --name NAME --slug SLUG [--plan free|team] [--currency USD] [--json]
       npx proposal-api organizations rename SLUG --name NAME [--json]
       npx proposal-api organizations set-plan SLUG free|team [--json]

A slug is unique and has 1 to 50 of a-z, 0-9 and -. A new organization is on the free plan unless --plan says otherwise;
API keys and API access need team. A running server applies a changed plan within a second.
`,
  async run([verb, ...words]) {
    if (verb === 'list') return list(words);
    if (verb === 'create') return create(words);
    if (verb === 'rename') return rename(words);
    if (verb === 'set-plan') return changePlan(words);
    throw new UsageError('organizations needs one of list, create, rename, set-plan');
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
    name: required(values.name, 'name'),
    slug: checkSlug(required(values.slug, 'slug')),
    plan: checkPlan(values.plan ?? 'free'),
    currency: checkCurrency(values.currency ?? 'USD'),
  };
  return withDatabase(async (database) => print(await createOrganization(database, fields), values.json));
}

async function rename(words: string[]): Promise<number> {
  const options = { name: { type: 'string' }, json: { type: 'boolean' } } as const;
  const { values, positionals } = readWords(words, options, ['SLUG']);
  const name = required(values.name, 'name');
  return withDatabase(async (database) => {
    const organization = await organizationBySlug(database, positionals[0] ?? '');
    return print(await renameOrganization(database, organization, name), values.json);
  });
}

async function changePlan(words: string[]): Promise<number> {
  const { values, positionals } = readWords(words, { json: { type: 'boolean' } }, ['SLUG', 'PLAN']);
  const [slug = '', typed = ''] = positionals;
  const plan = checkPlan(typed);
  return withDatabase(async (database) => {
    const organization = await organizationBySlug(database, slug);
    return print(await setPlan(database, organization, plan), values.json);
  });
}

async function list(words: string[]): Promise<number> {
  const { values } = readWords(words, { json: { type: 'boolean' } });
  return withDatabase(async (database) => {
    const rows = (await listOrganizations(database)).map(present);
    if (values.json) sayJson(rows);
    else printTable(rows);
    return 0;
  });
}

function print(organization: Organization, json: boolean | undefined): number {
  if (json) sayJson(present(organization));
  else printTable([present(organization)]);
  return 0;
}

const present = ({ id, name, slug, plan, currency, createdAt }: Organization) => ({
  id: publicId('organization', id),
  slug,
  name,
  plan,
  currency,
  createdAt,
});

function checkSlug(slug: string): string {
  if (!/^[a-z0-9](?:[a-z0-9-]{0,48}[a-z0-9])?$/.test(slug))
    throw new UsageError('--slug must have 1 to 50 of a-z, 0-9 and -');
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
