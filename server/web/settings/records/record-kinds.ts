/** The kinds of records that members look at: their operations, and what a list shows of each. */
import type { z } from 'zod';
import { customerStatuses } from '../../../../contract/customers.ts';
import type { Customer } from '../../../../contract/customers.ts';
import { itemTypes } from '../../../../contract/items.ts';
import type { item } from '../../../../contract/items.ts';
import { proposalStatuses } from '../../../../contract/proposals.ts';
import type { Proposal } from '../../../../contract/proposals.ts';
import { v1 } from '../../../../contract/v1.ts';
import { labelOf } from '../../../../contract/openapi/label.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { timeDay } from '../time.ts';

type Item = z.infer<typeof item>;
type Cell = Html | string;
type Choice = { name: string; label: string; options: Readonly<Record<string, string>> };

/** What a list of records shows. */
type Shown = {
  searched: string;
  filters: readonly Choice[];
  heads: readonly string[];
  /** The cells of a row; the first one names the record. */
  row(record: never): readonly Cell[];
};
export type RecordKind = ReturnType<typeof kindOf>;

const kindOf = (name: 'customers' | 'proposals' | 'items', shown: Shown) => {
  const one = name.slice(0, -1);
  // `parameter` is the path parameter of `get`.
  return { name, one, label: labelOf(name), list: v1[name].list, get: v1[name].get, parameter: `${one}Id`, ...shown };
};

const titled = (values: readonly string[]): Record<string, string> =>
  Object.fromEntries(values.map((value) => [value, labelOf(value)]));
const all = { '': 'All' };
const newest = { '-createdAt': 'Newest first', '-updatedAt': 'Last changed first' };

export const badge = (status: string): Html => {
  const look = { active: 'on', accepted: 'on', sent: 'warm', viewed: 'warm' }[status] ?? 'off';
  return html`<span class="badge ${look}">${labelOf(status)}</span>`;
};

export const amount = (value: string, currency: string): Html =>
  html`<span class="amount">${value} <small>${currency}</small></span>`;

export const recordPath = (kind: RecordKind['name'], id: string): string => `/settings/${kind}/${id}`;

export const recordKinds = [
  kindOf('customers', {
    searched: 'Name, email, phone, city, external ID',
    filters: [
      { name: 'status', label: 'Status', options: { ...all, ...titled(customerStatuses) } },
      { name: 'sort', label: 'Order', options: { ...newest, name: 'By name' } },
    ],
    heads: ['Name', 'Email', 'Phone', 'City', 'Status', 'Created'],
    row: ({ name, email, phone, address, status, createdAt }: Customer) => [
      name,
      email ?? '',
      phone ?? '',
      address?.city ?? '',
      badge(status),
      timeDay(createdAt),
    ],
  }),
  kindOf('proposals', {
    searched: 'Number, title, customer',
    filters: [
      { name: 'status', label: 'Status', options: { ...all, ...titled(proposalStatuses) } },
      { name: 'sort', label: 'Order', options: { ...newest, '-statusChangedAt': 'Last status change first' } },
    ],
    heads: ['Number', 'Title', 'Customer', 'Total', 'Status', 'Changed'],
    row: ({ number, title, customer, total, currency, status, statusChangedAt }: Proposal) => [
      number,
      title,
      customer?.name ?? '',
      amount(total, currency),
      badge(status),
      timeDay(statusChangedAt),
    ],
  }),
  kindOf('items', {
    searched: 'Name, SKU, description',
    filters: [
      { name: 'type', label: 'Type', options: { ...all, ...titled(itemTypes) } },
      { name: 'status', label: 'Status', options: { ...all, ...titled(customerStatuses) } },
      { name: 'sort', label: 'Order', options: { ...newest, name: 'By name' } },
    ],
    heads: ['Name', 'SKU', 'Type', 'Price', 'Status', 'Created'],
    row: ({ name, sku, type, unitPrice, currency, status, createdAt }: Item) => [
      name,
      sku ?? '',
      labelOf(type),
      amount(unitPrice, currency),
      badge(status),
      timeDay(createdAt),
    ],
  }),
] as const;
