import { createInterface } from 'node:readline/promises';
import { UsageError } from '../config.ts';
import { forOrganization } from '../database/tenant.ts';
import { Customer } from '../entities/customer.ts';
import { countProposals, eraseCustomer } from '../records/erase-customer.ts';
import { storedId } from '../records/public-id.ts';
import { organizationBySlug, readWords, required, withDatabase } from './command.ts';
import type { Command } from './command.ts';
import { say, sayJson, warn } from './terminal.ts';

export const customersCommand: Command = {
  help: `
Usage: npx proposal-api customers erase CUSTOMER_ID --organization SLUG [--yes] [--json]

Replaces the personal data of one customer everywhere it is kept: in the record, in what its proposals say about it and
who accepted them, in search, in stored responses to requests with an Idempotency-Key, and in the audit log. The customer
keeps its id and is archived; its proposals keep their numbers, amounts, states and times. There is no way back.

It asks for confirmation on a terminal; elsewhere it needs --yes. To erase a customer again changes nothing.

  --organization SLUG   the organization of the customer
  --yes                 do not ask
  --json                print the result as JSON

Older backups, exported files and the systems that read the API keep their copies.
`,
  async run([verb, ...words]) {
    if (verb === 'erase') return erase(words);
    throw new UsageError('customers needs the verb erase');
  },
};

const options = { organization: { type: 'string' }, yes: { type: 'boolean' }, json: { type: 'boolean' } } as const;

async function erase(words: string[]): Promise<number> {
  const { values, positionals } = readWords(words, options, ['CUSTOMER_ID']);
  const slug = required(values.organization, 'organization');
  const [publicId = ''] = positionals;
  const id = storedId('customer', publicId);
  if (!id) throw new UsageError(`${publicId} is not the id of a customer, such as cus_01jzy3v1k8e2tb6qk3x5w9r7md`);
  if (!values.yes && !process.stdin.isTTY)
    throw new UsageError('erased data cannot be brought back: add --yes to erase it without being asked');
  return withDatabase(async (database) => {
    const tenant = forOrganization(database, (await organizationBySlug(database, slug)).id);
    const customer = await tenant.em().findOne(Customer, { id });
    if (!customer) throw new UsageError(`${slug} has no customer ${publicId}`);
    if (!values.yes && !(await isConfirmed(customer.name, publicId, await countProposals(tenant, id)))) {
      warn('Nothing was erased.');
      return 1;
    }
    const erased = (await eraseCustomer(tenant, id, null)) === true;
    if (values.json) sayJson({ id: publicId, erased });
    else say(erased ? `${publicId} is erased.` : `${publicId} was erased before.`);
    return 0;
  });
}

async function isConfirmed(name: string, publicId: string, proposals: number): Promise<boolean> {
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await asking.question(
      `Erase the personal data of ${name} (${publicId}), also in ${proposals} proposals? It cannot be brought back. Type yes: `,
    );
    return answer.trim().toLowerCase() === 'yes';
  } finally {
    asking.close();
  }
}
