import { createInterface } from 'node:readline/promises';
import { Argument } from '@commander-js/extra-typings';
import { UsageError } from '../config.ts';
import { Customer } from '../entities/customer.ts';
import { countProposals, eraseCustomer } from '../records/erase-customer.ts';
import { releaseExternalId } from '../records/erased-external-ids.ts';
import { publicId as publicIdOf } from '../records/public-id.ts';
import { inOrganization, organizationCommand } from './acting.ts';
import { idOf, jsonOption, print } from './command.ts';
import type { Declare } from './command.ts';

export const declare: Declare = (command) => {
  organizationCommand(command, 'erase', 'erase the personal data of a customer')
    .description(
      `Erases one customer's personal data everywhere it is stored: in the record, in what its proposals say about it
and who accepted them, in search, in stored responses to requests with an Idempotency-Key, in webhook deliveries, and
in the audit log. Files that were uploaded to be imported are removed. The customer keeps its id and is archived; its
proposals keep their numbers, amounts, statuses and times. This cannot be undone. Its externalId is rejected from then
on: see \`customers release\`.

On a terminal, it asks for confirmation; elsewhere, it requires --yes. Erasing a customer twice has no further effect.

Older backups, exported files and other systems keep their copies.`,
    )
    .addArgument(customerId('the id of the customer'))
    .option('--yes', 'do not ask for confirmation')
    .addOption(jsonOption())
    .action(erase);
  organizationCommand(command, 'release', 'make the externalId of an erased customer usable again')
    .description(
      `Makes the externalId of an erased customer usable again, for a person who returns. Until then, a create or an import
with it is rejected, so that no sync restores erased data. The erased customer itself does not change.`,
    )
    .addArgument(customerId('the id of the erased customer'))
    .addOption(jsonOption())
    .action(release);
};

const example = 'such as cus_01jzy3v1k8e2tb6qk3x5w9r7md';
const customerId = (what: string) =>
  new Argument('<CUSTOMER_ID>', `${what}, ${example}`).argParser(idOf('customer', `a customer, ${example}`));

type Options = { organization: string; yes?: true | undefined; json?: true | undefined };

const unknownCustomer = (slug: string, publicId: string) => new UsageError(`${slug} has no customer ${publicId}`);

async function release(id: string, { organization: slug, json }: Options): Promise<void> {
  const publicId = publicIdOf('customer', id);
  await inOrganization(slug, async (tenant) => {
    const released = await releaseExternalId(tenant, id, null);
    if (released === undefined) throw unknownCustomer(slug, publicId);
    print(
      json,
      { id: publicId, released },
      released ? `Released the externalId of ${publicId}.` : `${publicId} has no externalId to release.`,
    );
  });
}

async function erase(id: string, { organization: slug, yes, json }: Options): Promise<void> {
  const publicId = publicIdOf('customer', id);
  if (!yes && !process.stdin.isTTY) throw new UsageError('erasing cannot be undone; pass --yes to confirm');
  // A customer may have any number of proposals.
  const options = { isLimited: false };
  await inOrganization(
    slug,
    async (tenant) => {
      const customer = await tenant.em().findOne(Customer, { id });
      if (!customer) throw unknownCustomer(slug, publicId);
      if (!yes && !(await isConfirmed(customer.name, publicId, await countProposals(tenant, id))))
        throw new UsageError('Nothing was erased.');
      const erased = (await eraseCustomer(tenant, id, null)) === true;
      print(json, { id: publicId, erased }, erased ? `Erased ${publicId}.` : `${publicId} was already erased.`);
    },
    options,
  );
}

async function isConfirmed(name: string, publicId: string, proposals: number): Promise<boolean> {
  const including = proposals > 0 ? `, including in ${proposals} ${proposals === 1 ? 'proposal' : 'proposals'}` : '';
  using asking = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await asking.question(
    `Erase the personal data of ${name} (${publicId})${including}? This cannot be undone. Type "yes" to continue: `,
  );
  return answer.trim().toLowerCase() === 'yes';
}
