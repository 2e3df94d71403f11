/** The bodies of events: the record as GET returns it when the event is first sent, and the same in every attempt. */
import type { EventType, WebhookEvent } from '../../contract/events.ts';
import type { RecordName } from '../../contract/v1.ts';
import { forOrganization } from '../database/tenant.ts';
import type { Tenant } from '../database/tenant.ts';
import type { Database } from '../database/orm.ts';
import { customerTable, presentCustomer } from '../records/customer.ts';
import { itemTable, presentItem } from '../records/item.ts';
import { presentProposal, proposalWithLines } from '../records/proposal.ts';
import { publicId } from '../records/public-id.ts';
import { readEach } from '../records/reader.ts';
import type { Selection } from '../records/selection.ts';
import { withIds } from '../records/sql.ts';
import type { Claimed } from './deliveries.ts';
import type { Leased } from './leases.ts';

/** Reads records of one kind by their stored ids, each as GET returns it. */
const read =
  <T extends { id: string }, Row extends { id: string }>(selection: Selection<T, Row>, present: (row: Row) => object) =>
  async (tenant: Tenant, ids: string[]): Promise<[string, object][]> => {
    const rows = await readEach(tenant, selection, withIds<T>(ids));
    return rows.map((row) => [row.id, present(row)]);
  };

const kinds = {
  customer: read(customerTable.selection, presentCustomer),
  item: read(itemTable.selection, presentItem),
  proposal: read(proposalWithLines, presentProposal),
} satisfies Record<RecordName, unknown>;

/** The body of each delivery by its id; none for a record that no longer exists. */
export type Render = (endpoint: Leased, claimed: readonly Claimed[]) => Promise<Map<string, string>>;

export function createRender(database: Database): Render {
  return async (endpoint, claimed) => {
    const tenant = forOrganization(database, endpoint.organizationId);
    const fresh = claimed.filter((delivery) => storedBody(delivery) === undefined);
    const records = new Map<string, object>();
    for (const [kind, readRecords] of Object.entries(kinds)) {
      const ids = fresh.filter(({ type }) => type.startsWith(`${kind}.`)).flatMap(({ recordId }) => recordId ?? []);
      if (ids.length === 0) continue;
      for (const [id, record] of await readRecords(tenant, [...new Set(ids)])) records.set(id, record);
    }
    return new Map(
      claimed.flatMap((delivery): [string, string][] => {
        const data = delivery.type === 'endpoint.test' ? testData(endpoint) : records.get(delivery.recordId ?? '');
        const body = storedBody(delivery) ?? (data && bodyOf(delivery.type, delivery.happenedAt, data));
        return body === undefined ? [] : [[delivery.id, body]];
      }),
    );
  };
}

/**
 * The body that was sent before. A resent event starts over: a later state of the record may have been delivered in the
 * meantime.
 */
const storedBody = ({ request, attempts, recordId }: Claimed): string | undefined =>
  request !== null && (attempts > 1 || recordId === null) ? request : undefined;

const bodyOf = (type: EventType, timestamp: string, data: object): string =>
  JSON.stringify({ type, timestamp, data } satisfies Record<keyof WebhookEvent, unknown>);

const testData = ({ id }: Leased): Extract<WebhookEvent, { type: 'endpoint.test' }>['data'] => ({
  endpointId: publicId('endpoint', id),
  message: 'This is a test. If you can read it, the endpoint works.',
});
