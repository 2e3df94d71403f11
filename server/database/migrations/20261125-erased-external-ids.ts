/**
 * The check of a new customer's externalId, in the statement that inserts it. The function is volatile, so it sees what was
 * committed while the insert waited on the unique index: an erasure of the customer that had the externalId.
 */
import { Migration } from '@mikro-orm/migrations';

export class ErasedExternalIdsMigration extends Migration {
  override up(): void {
    this.addSql(`create function reject_erased_external_id(organization uuid, given text) returns boolean
language plpgsql volatile strict as $$
begin
  if exists (
    select from erased_external_ids e where e.organization_id = organization and e.hash
      = encode(sha256(convert_to((select value from erasure_key) || organization::text || ' ' || given, 'UTF8')), 'hex')
  ) then
    raise unique_violation using message = 'the externalId of an erased customer', constraint = 'erased_external_ids_hash';
  end if;
  return true;
end $$;`);
  }
}
