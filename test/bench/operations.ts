/** The operations under measurement, as whole requests. */
import type { Filled } from './records.ts';
import { mark } from './load.ts';
import { publicId } from '../../server/records/public-id.ts';

export type Operation = { name: string; status: number; requestAt: (organization: Filled, index: number) => Parts };
/** `lean` is the body for the bare server, which has its own fields. */
type Parts = { method: string; path: string; id?: { kind: Kind; stored: string }; body?: object; lean?: object };
/** How to call a server under measurement. */
export type Dialect = 'service' | 'bare';

const idAt = (ids: string[], index: number) => ids[(index * 7919) % ids.length] ?? '';
const leanCustomer = (index: number) => ({
  name: `Brandt & Daughters ${index}`,
  email: `orders@company-${index}.example`,
  phone: `+49 30 ${1_000_000 + index}`,
  company: `Brandt & Daughters ${index}`,
  street: `Lange Straße ${index}`,
  city: 'Berlin',
  postal_code: '10115',
});
const newCustomer = (index: number) => ({
  companyName: `Brandt & Daughters ${index}`,
  email: `orders@company-${index}.example`,
  phone: `+49 30 ${1_000_000 + index}`,
  address: { line1: `Lange Straße ${index}`, city: 'Berlin', postalCode: '10115', country: 'DE' },
  tags: ['wholesale', `region-${index % 7}`],
});

const list = (path: string): Operation => ({
  name: `list ${path}`,
  status: 200,
  requestAt: () => ({ method: 'GET', path: `/v1/${path}` }),
});
type Kind = 'customer' | 'item' | 'proposal';
const get = (kind: Kind): Operation => ({
  name: `get ${kind}`,
  status: 200,
  requestAt: (organization, index) => ({
    method: 'GET',
    path: `/v1/${kind}s`,
    id: { kind, stored: idAt(organization[`${kind}s`], index) },
  }),
});

export const operations: readonly Operation[] = [
  list('customers'),
  get('customer'),
  {
    name: 'create customer',
    status: 201,
    requestAt: (_, index) => ({
      method: 'POST',
      path: '/v1/customers',
      body: newCustomer(index),
      lean: leanCustomer(index),
    }),
  },
  {
    name: 'update customer',
    status: 200,
    requestAt: (organization, index) => ({
      ...get('customer').requestAt(organization, index),
      method: 'PATCH',
      body: { notes: `Called back, ${mark}` },
    }),
  },
  list('proposals'),
  get('proposal'),
  list('items'),
  get('item'),
  {
    name: 'create item',
    status: 201,
    requestAt: () => ({
      method: 'POST',
      path: '/v1/items',
      body: { type: 'service', name: 'Installation', unitPrice: '80.50', sku: `NEW-${mark}` },
      lean: { name: 'Installation', unitPriceCents: 8050, sku: `NEW-${mark}` },
    }),
  },
];

/** The server to call, and how. */
export type Called = { port: number; dialect: Dialect };

/** The requests of an operation, each with a different key, cycling through all organizations. */
export function requestsOf({ requestAt }: Operation, organizations: readonly Filled[], called: Called): string[] {
  const keys = organizations[0]?.keys.length ?? 0;
  return Array.from({ length: organizations.length * keys }, (_, index) => {
    const organization = organizations[index % organizations.length] as Filled;
    const key = organization.keys[Math.floor(index / organizations.length)] ?? '';
    return textOf(requestAt(organization, index), key, called);
  });
}

function textOf({ method, path, id, body, lean = body }: Parts, key: string, { port, dialect }: Called): string {
  const sent = dialect === 'bare' ? lean : body;
  const text = sent ? JSON.stringify(sent) : '';
  const entity = sent ? `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n` : '';
  const shown = id && (dialect === 'bare' ? id.stored : publicId(id.kind, id.stored));
  const target = shown ? `${path}/${shown}` : path;
  return `${method} ${target} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${key}\r\n${entity}\r\n${text}`;
}
