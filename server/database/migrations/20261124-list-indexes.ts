/** Indexes that serve every pair of filters, and every filter with every order: see records/filtered-page.ts. */
import { Migration } from '@mikro-orm/migrations';

const sample = `organization_id::text || ':sample:' || right(id::text, 2)`;
const marks = (...further: string[]) =>
  `(array[${['organization_id::text', sample, ...further.map((mark) => `organization_id::text || ${mark}`)].join(', ')}])`;
const owned = (column: string) => `(jsonb_set('{}', array[organization_id::text], ${column})) jsonb_path_ops`;

// One index for the contents, which finds what several filters have in common without reading a record. The status comes
// before each order, so that it needs no index of its own. The release before this one still gets every response right
// while it is being replaced; its lists without a status take longer.
// Webhooks find changes by customers_by_change and items_by_change.
const customers = `
create index customers_by_contents on customers using gin (
  search gin_trgm_ops, ${owned('tokens')}, ${owned('metadata')},
  ${marks(`':status:' || status`, `':country:' || (address ->> 'country')`)});
create index customers_by_status_and_change on customers (organization_id, status, updated_at, id);
create index customers_by_status_and_name on customers (organization_id, status, name_key, id);
drop index customers_by_text, customers_by_token, customers_by_metadata, customers_by_creation, customers_by_name;`;

const items = `
create index items_by_contents on items using gin (
  search gin_trgm_ops, ${owned('metadata')},
  ${marks(`':status:' || status`, `':type:' || type`, `':category:' || category`)});
create index items_by_status_and_change on items (organization_id, status, updated_at, id);
create index items_by_status_and_name on items (organization_id, status, name_key, id);
drop index items_by_text, items_by_metadata, items_by_type, items_by_category, items_by_creation, items_by_name;`;

// A proposal has one of seven statuses: too many scans for a list of all.
const proposals = `
create index proposals_by_contents on proposals using gin (
  search gin_trgm_ops, ${owned('metadata')}, ${marks(`':status:' || status`, `':currency:' || currency`)});
create index proposals_by_status_and_change on proposals (organization_id, status, updated_at, id);
create index proposals_by_status_and_its_change on proposals (organization_id, status, status_changed_at, id);
create index proposals_by_acceptance on proposals (organization_id, accepted_at) where accepted_at is not null;
drop index proposals_by_text, proposals_by_metadata;`;

export class ListIndexesMigration extends Migration {
  override up(): void {
    for (const part of [customers, items, proposals]) this.addSql(part);
  }
}
