/** The records of each resource: how webhooks and exports find and read them, and what `get` shows of them. */
import type { RecordName } from '../../contract/v1.ts';
import type { Tenant } from '../database/tenant.ts';
import { customerIndex, customerTable, presentCustomer } from './customer.ts';
import { itemIndex, itemTable, presentItem } from './item.ts';
import type { Listed, ListIndex } from './list-index.ts';
import { presentProposal, proposalIndex, proposalWithLines } from './proposal.ts';
import { readEach } from './reader.ts';
import { recordTable } from './record-table.ts';
import type { MetadataSource, RecordTable } from './record-table.ts';
import type { Selection } from './selection.ts';
import { withIds } from './sql.ts';

type Kind<T extends Listed> = {
  table(this: void, source: MetadataSource): RecordTable<T>;
  index: ListIndex<T>;
  /** The records with these stored ids, each by its id, as `get` shows them. */
  read(tenant: Tenant, ids: readonly string[]): Promise<[string, object][]>;
};

const kind = <T extends Listed, Row extends { id: string }>(
  selection: Selection<T, Row>,
  index: ListIndex<T>,
  present: (row: Row) => object,
): Kind<T> => ({
  table: (source) => recordTable(selection.entity, () => source),
  index,
  async read(tenant, ids) {
    const rows = await readEach(tenant, selection, withIds<T>(ids));
    return rows.map((row) => [row.id, present(row)]);
  },
});

export const kinds = {
  customer: kind(customerTable.selection, customerIndex, presentCustomer),
  item: kind(itemTable.selection, itemIndex, presentItem),
  proposal: kind(proposalWithLines, proposalIndex, presentProposal),
} satisfies Record<RecordName, object>;
