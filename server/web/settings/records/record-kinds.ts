/** The kinds of records that members look at: their operations, and what a list shows of each. */
import type { AppRoute } from '@ts-rest/core';
import type { z } from 'zod';
import { customerStatuses } from '../../../../contract/customers.ts';
import type { Customer } from '../../../../contract/customers.ts';
import { itemTypes } from '../../../../contract/items.ts';
import type { item } from '../../../../contract/items.ts';
import { proposalStatuses } from '../../../../contract/proposals.ts';
import type { Proposal } from '../../../../contract/proposals.ts';
import { v1 } from '../../../../contract/v1.ts';
import { labelOf } from '../../../text/labels.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { timeDay } from '../time.ts';

type Item = z.infer<typeof item>;
type Cell = Html | string;
type Choice = { name: string; label: string; options: Readonly<Record<string, string>> };

export type RecordKind = {
  name: 'customers' | 'proposals' | 'items';
  label: string;
  one: string;
  list: AppRoute;
  get: AppRoute;
  /** The path parameter of `get`. */
  parameter: string;
  searched: string;
  filters: readonly Choice[];
  heads: readonly string[];
  /** The cells of a row; the first one names the record. */
  row(record: never): readonly Cell[];
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

export const recordKinds: readonly [RecordKind, RecordKind, RecordKind] = [
  {
    name: 'customers',
    label: 'Customers',
    one: 'customer',
    list: v1.customers.list,
    get: v1.customers.get,
    parameter: 'customerId',
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
  },
  {
    name: 'proposals',
    label: 'Proposals',
    one: 'proposal',
    list: v1.proposals.list,
    get: v1.proposals.get,
    parameter: 'proposalId',
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
  },
  {
    name: 'items',
    label: 'Items',
    one: 'item',
    list: v1.items.list,
    get: v1.items.get,
    parameter: 'itemId',
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
  },
];
