/** The operations under measurement, as whole requests. */
import type { Filled } from './records.ts';
import { mark } from './load.ts';
import { publicId } from '../../server/records/public-id.ts';

export type Operation = { name: string; status: number; requestAt: (organization: Filled, index: number) => Parts };
type Parts = { method: string; path: string; body?: object };

const idAt = (ids: string[], index: number) => ids[(index * 7919) % ids.length] ?? '';
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
const get = (kind: 'customer' | 'item' | 'proposal'): Operation => ({
  name: `get ${kind}`,
  status: 200,
  requestAt: (organization, index) => ({
    method: 'GET',
    path: `/v1/${kind}s/${publicId(kind, idAt(organization[`${kind}s`], index))}`,
  }),
});

export const operations: readonly Operation[] = [
  list('customers'),
  get('customer'),
  {
    name: 'create customer',
    status: 201,
    requestAt: (_, index) => ({ method: 'POST', path: '/v1/customers', body: newCustomer(index) }),
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
    }),
  },
];

/** Each request of an operation with another key, through all organizations in turn. */
export function requestsOf({ requestAt }: Operation, organizations: readonly Filled[], port: number): string[] {
  const keys = organizations[0]?.keys.length ?? 0;
  return Array.from({ length: organizations.length * keys }, (_, index) => {
    const organization = organizations[index % organizations.length] as Filled;
    const key = organization.keys[Math.floor(index / organizations.length)] ?? '';
    return textOf(requestAt(organization, index), key, port);
  });
}

function textOf({ method, path, body }: Parts, key: string, port: number): string {
  const text = body ? JSON.stringify(body) : '';
  const entity = body ? `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n` : '';
  return `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${key}\r\n${entity}\r\n${text}`;
}
