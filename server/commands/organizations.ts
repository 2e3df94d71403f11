import { Argument, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import { currencyInput } from '../../contract/fields.ts';
import { changeOrganization, createOrganization, listOrganizations, setPlan } from '../accounts/organizations.ts';
import type { ConfiguredDatabase } from '../database/open.ts';
import { forOrganization } from '../database/tenant.ts';
import { plans } from '../entities/organization.ts';
import type { Organization } from '../entities/organization.ts';
import { publicId } from '../records/public-id.ts';
import { jsonOption, organizationBySlug, printList, text, withDatabase } from './command.ts';
import type { Declare } from './command.ts';

export const declare: Declare = (command) => {
  command.description(
    `A slug is unique, and has 1 to 50 of the characters a-z, 0-9 and -. API keys and API access need the Team plan. A
running server applies a changed plan within a second.`,
  );
  command.command('list').summary('list all organizations').addOption(jsonOption()).action(list);
  command
    .command('create')
    .summary('create an organization')
    .requiredOption('--name <NAME>', 'its name', text)
    .requiredOption('--slug <SLUG>', 'its short name, for commands', slugText)
    .addOption(new Option('--plan <PLAN>', 'its plan').choices(plans).default('free' as const))
    .option('--currency <CODE>', 'the default currency of its records', currencyCode, 'USD')
    .addOption(jsonOption())
    .action(({ json, ...fields }) =>
      withDatabase(async (database) => printList(json, present(await createOrganization(database, fields)))),
    );
  declareChanges(command);
};

function declareChanges(command: Command): void {
  command
    .command('rename')
    .summary('change the name of an organization')
    .argument('<SLUG>', 'the organization')
    .requiredOption('--name <NAME>', 'the new name', text)
    .addOption(jsonOption())
    .action((known, { name, json }) =>
      change(known, json, (database, { id }) => changeOrganization(forOrganization(database, id).em(), null, { name })),
    );
  command
    .command('set-plan')
    .summary('change the plan of an organization')
    .argument('<SLUG>', 'the organization')
    .addArgument(new Argument('<PLAN>', 'the new plan').choices(plans))
    .addOption(jsonOption())
    .action((known, plan, { json }) =>
      change(known, json, (database, organization) => setPlan(database, organization, plan)),
    );
}

type Change = (database: ConfiguredDatabase, organization: Organization) => Promise<Organization>;

const change = (slug: string, json: boolean | undefined, to: Change) =>
  withDatabase(async (database) =>
    printList(json, present(await to(database, await organizationBySlug(database, slug)))),
  );

const list = ({ json }: { json?: true | undefined }) =>
  withDatabase(async (database) => printList(json, (await listOrganizations(database)).map(present)));

const present = ({ id, name, slug, plan, currency, createdAt }: Organization) => ({
  id: publicId('organization', id),
  slug,
  name,
  plan,
  currency,
  createdAt,
});

function slugText(value: string): string {
  if (/^[a-z0-9](?:[a-z0-9-]{0,48}[a-z0-9])?$/.test(value)) return value;
  throw new InvalidArgumentError('It must have 1 to 50 of the characters a-z, 0-9 and -, and not start or end with -.');
}

function currencyCode(value: string): string {
  const { data } = currencyInput.safeParse(value);
  if (data !== undefined) return data;
  throw new InvalidArgumentError('It must be an ISO 4217 code such as USD.');
}
