/** Proposals are found by their customer's name, which is part of their search text: a new name replaces it there. */
import { batchSize } from '../database/batches.ts';
import { statements } from '../database/scope.ts';
import type { Scope } from '../database/scope.ts';

const replaceName = (name: string) =>
  `search = left(p.search, length(p.search) - length(coalesce(p.customer_key, ''))) || ${name}, customer_key = ${name}`;

/** `changed` has the customers. */
export const renameInProposals = `update proposals p set ${replaceName('changed.name_search')}
  from changed where p.organization_id = $1 and p.customer_id = changed.id and p.customer_key is distinct from changed.name_search`;

/** A customer `t` whose proposals can be changed by one statement, long before its time limit. */
export const hasFewProposals = `not exists (select from proposals p
  where p.organization_id = $1 and p.customer_id = t.id offset ${batchSize})`;

const proposalsToRename = `select p.id from proposals p
  where p.organization_id = $1 and p.customer_id = $2 and p.customer_key is distinct from $3::text`;
const renameSome = `update proposals p set ${replaceName('$3::text')}
  where p.organization_id = $1 and p.id = any($2)`;

/** The same for any number of proposals, in the transaction that has changed the customer. */
export async function renameInAllProposals(scope: Scope, id: string, nameSearch: unknown): Promise<void> {
  const { query } = scope[statements];
  const ids = (await query<{ id: string }>(proposalsToRename, [id, nameSearch])).map((proposal) => proposal.id);
  for (let start = 0; start < ids.length; start += batchSize)
    await query(renameSome, [ids.slice(start, start + batchSize), nameSearch]);
}
