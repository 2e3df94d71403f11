/** The bodies of events: the record as GET returns it when the event is first sent, and the same in every attempt. */
import type { EventType, WebhookEvent } from '../../contract/events.ts';
import { forOrganization } from '../database/tenant.ts';
import type { Database } from '../database/orm.ts';
import { kinds } from '../records/kinds.ts';
import { publicId } from '../records/public-id.ts';
import type { Claimed } from './deliveries.ts';
import type { Leased } from './leases.ts';

/** The body of each delivery by its id; none for a record that no longer exists. */
export type Render = (endpoint: Leased, claimed: readonly Claimed[]) => Promise<Map<string, string>>;

export function createRender(database: Database): Render {
  return async (endpoint, claimed) => {
    const tenant = forOrganization(database, endpoint.organizationId);
    const fresh = claimed.filter((delivery) => storedBody(delivery) === undefined);
    const records = new Map<string, object>();
    for (const [name, kind] of Object.entries(kinds)) {
      const ids = fresh.filter(({ type }) => type.startsWith(`${name}.`)).flatMap(({ recordId }) => recordId ?? []);
      if (ids.length === 0) continue;
      for (const [id, record] of await kind.read(tenant, [...new Set(ids)])) records.set(id, record);
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
