/**
 * The kinds of records that members can view: what a list shows of each, and the API's own operations, performed for a
 * member, who has a rate limit and a share of the database, as a key does.
 */
import { customerStatuses } from '../../../../contract/customers.ts';
import type { Customer } from '../../../../contract/customers.ts';
import { itemStatuses, itemTypes } from '../../../../contract/items.ts';
import type { Item } from '../../../../contract/items.ts';
import { labelOf } from '../../../../contract/openapi/label.ts';
import { proposalStatuses } from '../../../../contract/proposals.ts';
import type { Proposal } from '../../../../contract/proposals.ts';
import { recordOf, v1 } from '../../../../contract/v1.ts';
import type { ResourceName } from '../../../../contract/v1.ts';
import type { AuthenticatedKey } from '../../../keys/key-row.ts';
import { operationOf } from '../../../api/operations.ts';
import { admit, perform } from '../../../api/perform.ts';
import { Problem } from '../../../problems/problem.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { pageNotFound } from '../page.ts';
import { badge } from '../sections.ts';
import { timeDay } from '../time.ts';
import type { Visit } from '../visit.ts';

type Choice = { name: string; label: string; options: Readonly<Record<string, string>> };

/** What a list of records shows. */
type Shown<Of> = {
  searched: string;
  filters: readonly Choice[];
  columns: Readonly<Record<string, (record: Of) => Html | string>>;
};
export type RecordKind = ReturnType<typeof kindOf<never>>;

const kindOf = <Of>(name: ResourceName, shown: Shown<Of>) => {
  // A resource is named after its records.
  const one = recordOf(name);
  // `parameter` is the path parameter of `get`.
  return { name, one, label: labelOf(name), list: v1[name].list, get: v1[name].get, parameter: `${one}Id`, ...shown };
};

const titled = (values: readonly string[]): Record<string, string> =>
  Object.fromEntries(values.map((value) => [value, labelOf(value)]));
const all = { '': 'All' };
const newest = { '-createdAt': 'Newest first', '-updatedAt': 'Last changed first' };

const looks: Partial<Record<string, 'on' | 'warm'>> = { active: 'on', accepted: 'on', sent: 'warm', viewed: 'warm' };

export const statusBadge = (status: string): Html => badge(looks[status] ?? 'off', labelOf(status));

export const amount = (value: string, currency: string): Html =>
  html`<span class="amount">${value} <small>${currency}</small></span>`;

export const recordPath = (kind: ResourceName, id: string): string => `/settings/${kind}/${id}`;

export const recordLink = (kind: ResourceName, id: string, text: string): Html =>
  html`<a href="${recordPath(kind, id)}">${text}</a>`;

const status = (record: { status: string }) => statusBadge(record.status);
const created = ({ createdAt }: { createdAt: string }) => timeDay(createdAt);

export const recordKinds = {
  customers: kindOf<Customer>('customers', {
    searched: 'Name, email, phone, city, external ID',
    filters: [
      { name: 'status', label: 'Status', options: { ...all, ...titled(customerStatuses) } },
      { name: 'sort', label: 'Order', options: { ...newest, name: 'By name' } },
    ],
    columns: {
      Name: ({ id, name }) => recordLink('customers', id, name),
      Email: ({ email }) => email ?? '',
      Phone: ({ phone }) => phone ?? '',
      City: ({ address }) => address?.city ?? '',
      Status: status,
      Created: created,
    },
  }),
  proposals: kindOf<Proposal>('proposals', {
    searched: 'Number, title, customer',
    filters: [
      { name: 'status', label: 'Status', options: { ...all, ...titled(proposalStatuses) } },
      { name: 'sort', label: 'Order', options: { ...newest, '-statusChangedAt': 'Last status change first' } },
    ],
    columns: {
      Number: ({ id, number }) => recordLink('proposals', id, number),
      Title: ({ title }) => title,
      Customer: ({ customer }) => customer?.name ?? '',
      Total: ({ total, currency }) => amount(total, currency),
      Status: status,
      Changed: ({ statusChangedAt }) => timeDay(statusChangedAt),
    },
  }),
  items: kindOf<Item>('items', {
    searched: 'Name, SKU, description',
    filters: [
      { name: 'type', label: 'Type', options: { ...all, ...titled(itemTypes) } },
      { name: 'status', label: 'Status', options: { ...all, ...titled(itemStatuses) } },
      { name: 'sort', label: 'Order', options: { ...newest, name: 'By name' } },
    ],
    columns: {
      Name: ({ id, name }) => recordLink('items', id, name),
      SKU: ({ sku }) => sku ?? '',
      Type: ({ type }) => labelOf(type),
      Price: ({ unitPrice, currency }) => amount(unitPrice, currency),
      Status: status,
      Created: created,
    },
  }),
} satisfies Record<ResourceName, RecordKind>;

export type OneRecord = {
  id: string;
  name?: string;
  number?: string;
  title?: string;
  customer?: Proposal['customer'];
} & Readonly<Record<string, unknown>>;
export type Listed = { data: readonly OneRecord[]; pagination: { nextCursor: string | null } };

export const titleOf = ({ name, number, title }: OneRecord) => name ?? [number, title].filter(Boolean).join(' · ');

const asKey = ({ member, organization }: Visit): AuthenticatedKey => ({
  id: member.id,
  name: member.name,
  prefix: '',
  lastFour: '',
  createdAt: member.createdAt,
  lastUsedAt: null,
  revokedAt: null,
  endsAt: null,
  replacedBy: null,
  endsAtMs: Number.POSITIVE_INFINITY,
  organization,
});

/** Problems: those of the operation, such as invalid_parameter and plan_required. */
export async function readList(visit: Visit, { kind, query }: { kind: RecordKind; query: object }): Promise<Listed> {
  const caller = await admit(asKey(visit), visit.context);
  const { body } = await perform(operationOf(kind.list), { query }, caller);
  // The operation's response is a page of records with ids.
  return body as Listed;
}

/** The record in the path. Problem: unknown, even if the record exists in another organization. */
export async function readRecord(visit: Visit, kind: RecordKind): Promise<OneRecord> {
  const caller = await admit(asKey(visit), visit.context);
  const params = { [kind.parameter]: visit.request.params.id ?? '' };
  try {
    const { body } = await perform(operationOf(kind.get), { params }, caller);
    // The operation's response is a record with an id.
    return body as OneRecord;
  } catch (error) {
    throw error instanceof Problem && error.code === 'not_found' ? pageNotFound() : error;
  }
}
