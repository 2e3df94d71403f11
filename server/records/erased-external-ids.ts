/**
 * The externalIds of erased customers: stored as keyed hashes, and refused for new customers, so that no sync or import
 * restores an erased person. The database has the key and computes the hashes, so no statement returns either.
 */
import { statements } from '../database/scope.ts';
import type { Scope } from '../database/scope.ts';
import type { ScopedEntityManager } from '../database/tenant.ts';
import { Customer } from '../entities/customer.ts';
import { ErasedExternalId } from '../entities/erased-external-id.ts';
import { uuidv7 } from '../entities/uuid.ts';
import { recordEvent } from './audit-log.ts';
import { publicId } from './public-id.ts';

/** SQL: the hash of a text; `$1` is the organization. */
const hashOf = (text: string) =>
  `encode(sha256(convert_to((select value from erasure_key) || $1::uuid::text || ' ' || ${text}, 'UTF8')), 'hex')`;

/**
 * SQL: the texts in `$2` that are externalIds of erased customers; `$1` is the organization. Imports reject rows that
 * would give one to a customer.
 */
export const selectErasedExternalIds = `select given from unnest($2::text[]) as given
  where exists (select from erased_external_ids where organization_id = $1) and exists (select from erased_external_ids e where e.organization_id = $1 and e.hash = ${hashOf('given')})`;

/** How the writer refuses them. The database's function computes the same hash. */
export const erasedExternalIds = {
  check: 'reject_erased_external_id(organization_id, external_id)',
  constraint: 'erased_external_ids_hash',
  find: findErasedCustomer,
} as const;

/** The id of the erased customer that had this externalId. */
async function findErasedCustomer(scope: Scope, externalId: string): Promise<string | undefined> {
  const text = `select customer_id as "customerId" from erased_external_ids where organization_id = $1 and hash = ${hashOf('$2::text')}`;
  const [found] = await scope[statements].read<{ customerId: string }>(text, [externalId]);
  return found && publicId('customer', found.customerId);
}

/** Call it in the transaction that erases the customer, or before. */
export async function keepErasedExternalId(scope: Scope, customerId: string, externalId: string): Promise<void> {
  await scope[statements].query(
    `insert into erased_external_ids (organization_id, id, customer_id, hash)
     values ($1, $2, $3, ${hashOf('$4::text')}) on conflict (organization_id, hash) do nothing`,
    [uuidv7(), customerId, externalId],
  );
}

/** Makes the externalId of an erased customer usable again; false if none is refused, undefined if there is no customer. */
export function releaseExternalId(
  tenant: { transaction<T>(work: (em: ScopedEntityManager) => Promise<T>): Promise<T> },
  customerId: string,
  memberId: string | null,
): Promise<boolean | undefined> {
  return tenant.transaction(async (em) => {
    if ((await em.count(Customer, { id: customerId })) === 0) return undefined;
    const released = await em.nativeDelete(ErasedExternalId, { customerId });
    if (released > 0)
      recordEvent(em, { action: 'external_id_released', memberId, detail: publicId('customer', customerId) });
    return released > 0;
  });
}
