/** Generated from the contract by `npm run generate`. Do not edit: change the contract instead. */

import type { CallOptions, CreateOptions, ListMethod, Method, SyncMethod, UpdateOptions } from './types.ts';

/** The organization and the key that are calling. */
export type Me = {
  /** One line that names this connection. */
  label: string;
  /** The organization’s plan. */
  plan: 'free' | 'team';
  /** The organization whose data this key reads and writes. */
  organization: {
    /** Unique id; it never changes. */
    id: string;
    /** Name. */
    name: string;
    /** Short name in addresses. */
    slug: string;
    /** ISO 4217 currency code, upper case. */
    currency: string;
    /** When the organization was created. */
    createdAt: string;
  };
  /** The key of this request; its secret is never shown again. */
  key: {
    /** Unique id; it never changes. */
    id: string;
    /** Name given to the key. */
    name: string;
    /** First and last characters of the key. */
    maskedKey: string;
    /** When the key was created. */
    createdAt: string;
    /** When it was last used, to the minute. */
    lastUsedAt: string | null;
  };
  /** The rate limit of this key. */
  rateLimit: {
    /** Requests that the window admits. */
    limit: number;
    /** Requests still free in the window. */
    remaining: number;
    /** Length of the sliding window in seconds. */
    windowSeconds: number;
    /** Seconds until the oldest counted request leaves the window. */
    resetSeconds: number;
  };
};

/** A page of records. */
export type CustomerList = {
  /** The records of this page, in the order asked for. */
  data: Customer[];
  /** Where this page stands in its list. */
  pagination: Pagination;
  /**
   * On lists sorted by `updatedAt`: the value to send as the next `updatedSince` once `hasMore` is false, so that no
   * change is ever missed. `null` on other lists.
   */
  syncedThrough: string | null;
};

/** A person or company that the organization sells to. */
export type Customer = {
  /** Unique id; it never changes. */
  id: string;
  /** Who this is. Default: `company` where companyName is given without first and last name, else `person`. */
  type: 'person' | 'company';
  /** Display name. Default: companyName, else first and last name, else email, else phone. */
  name: string;
  /** Given name. */
  firstName: string | null;
  /** Family name. */
  lastName: string | null;
  /** Name of the company. */
  companyName: string | null;
  /** One e-mail address, kept as typed; compared without regard to case. */
  email: string | null;
  /** Phone number, kept as typed; found by its digits. */
  phone: string | null;
  /** A postal address; `null` where no part of it is known. */
  address: Address | null;
  /** Where to deliver; `null` where no part of it is known. */
  shippingAddress: Address | null;
  /** Tax or VAT number. */
  taxId: string | null;
  /** Web site. */
  website: string | null;
  /** Internal notes; the customer never sees them. */
  notes: string | null;
  /** Labels, in the order given; up to 20, unique whatever their case. */
  tags: string[];
  /** Your own id of this record in another system; unique per resource, case-sensitive. */
  externalId: string | null;
  /** Your own data: up to 50 keys (1..40 of `A-Z a-z 0-9 _ . -`) to strings of up to 500 characters. */
  metadata: Record<string, string>;
  /** An archived customer is retired: kept, but no longer in use. */
  status: 'active' | 'archived';
  /** When the record was created. */
  createdAt: string;
  /** When the record last changed. */
  updatedAt: string;
};

/** A postal address; `null` where no part of it is known. */
export type Address = {
  /** Street and number. */
  line1: string | null;
  /** Building, floor, suite. */
  line2: string | null;
  /** City or town. */
  city: string | null;
  /** State, province or county. */
  region: string | null;
  /** Postal code, as it is written there. */
  postalCode: string | null;
  /** ISO 3166-1 alpha-2 country code; lower case is accepted and stored in upper case. */
  country: string | null;
};

/** Where this page stands in its list. */
export type Pagination = {
  /** The page size that was used. */
  limit: number;
  /** Whether another page follows. */
  hasMore: boolean;
  /** `cursor` of the next page; `null` on the last. */
  nextCursor: string | null;
  /** Address of the next page; `null` on the last. */
  nextUrl: string | null;
};

/** Parameters of `/v1/customers`. */
export type CustomerListQuery = {
  /** How many records a page holds. */
  limit?: number | undefined;
  /**
   * Where the page starts: `pagination.nextCursor` of the page before. It carries sort and filters, which may be
   * repeated or left out, but not changed.
   */
  cursor?: string | undefined;
  /** The order; `-` means descending, and the id breaks ties. */
  sort?: 'createdAt' | '-createdAt' | 'updatedAt' | '-updatedAt' | 'name' | '-name' | undefined;
  /** Only records whose `createdAt` is this time or later. RFC 3339 with a zone; a date alone means 00:00 UTC. */
  createdSince?: string | Date | undefined;
  /** Only records whose `createdAt` is before this time. RFC 3339 with a zone; a date alone means 00:00 UTC. */
  createdBefore?: string | Date | undefined;
  /** Only records whose `updatedAt` is this time or later. RFC 3339 with a zone; a date alone means 00:00 UTC. */
  updatedSince?: string | Date | undefined;
  /** Only records whose `updatedAt` is before this time. RFC 3339 with a zone; a date alone means 00:00 UTC. */
  updatedBefore?: string | Date | undefined;
  /** Search: each word must occur somewhere in the searched fields, whatever its case and accents. */
  q?: string | undefined;
  /** Exactly this externalId. */
  externalId?: string | undefined;
  /** Exact values of metadata keys, as `metadata[key]=value`; up to 5, all of which must match. */
  metadata?: Record<string, string> | undefined;
  /** Exactly this e-mail address, whatever its case. */
  email?: string | undefined;
  /** Digits of the phone number: 7 or more match its end, fewer match it whole. */
  phone?: string | undefined;
  /** Has this tag, whatever its case. */
  tag?: string | undefined;
  /** Only customers in this status. */
  status?: 'active' | 'archived' | 'all' | undefined;
};

/** A new customer. One of name, companyName, firstName, lastName, email and phone must be given. */
export type CustomerCreate = {
  /** Who this is. Default: `company` where companyName is given without first and last name, else `person`. */
  type?: 'person' | 'company' | undefined;
  /** Display name. Default: companyName, else first and last name, else email, else phone. */
  name?: string | undefined;
  /** Given name. */
  firstName?: string | null | undefined;
  /** Family name. */
  lastName?: string | null | undefined;
  /** Name of the company. */
  companyName?: string | null | undefined;
  /** One e-mail address, kept as typed; compared without regard to case. */
  email?: string | null | undefined;
  /** Phone number, kept as typed; found by its digits. */
  phone?: string | null | undefined;
  /** A postal address; `null` where no part of it is known. */
  address?: AddressInput | null | undefined;
  /** A postal address; `null` where no part of it is known. */
  shippingAddress?: AddressInput | null | undefined;
  /** Tax or VAT number. */
  taxId?: string | null | undefined;
  /** Web site. */
  website?: string | null | undefined;
  /** Internal notes; the customer never sees them. */
  notes?: string | null | undefined;
  /** Labels, in the order given; up to 20, unique whatever their case. */
  tags?: readonly string[] | null | undefined;
  /** Your own id of this record in another system; unique per resource, case-sensitive. */
  externalId?: string | null | undefined;
  /**
   * Your own data: up to 50 keys (1..40 of `A-Z a-z 0-9 _ . -`) to strings of up to 500 characters. Numbers and booleans
   * are accepted too, and become strings.
   */
  metadata?: Record<string, string | number | boolean | null> | null | undefined;
  /** An archived customer is retired: kept, but no longer in use. */
  status?: 'active' | 'archived' | undefined;
};

/** A postal address; `null` where no part of it is known. */
export type AddressInput = {
  /** Street and number. */
  line1?: string | null | undefined;
  /** Building, floor, suite. */
  line2?: string | null | undefined;
  /** City or town. */
  city?: string | null | undefined;
  /** State, province or county. */
  region?: string | null | undefined;
  /** Postal code, as it is written there. */
  postalCode?: string | null | undefined;
  /** ISO 3166-1 alpha-2 country code; lower case is accepted and stored in upper case. */
  country?: string | null | undefined;
};

/** Options of `POST /v1/customers`. */
export type CreateCustomerOptions = CreateOptions & {
  /**
   * Where another customer has this externalId: `error` answers 409, `return` 200 with that customer as it is, `update`
   * 200 after merging the body into it. Needs an externalId in the body.
   */
  onConflict?: 'error' | 'return' | 'update' | undefined;
};

/** A JSON Merge Patch (RFC 7396): what is absent stays, `null` clears. */
export type CustomerUpdate = {
  /** Who this is. Default: `company` where companyName is given without first and last name, else `person`. */
  type?: 'person' | 'company' | undefined;
  /** Display name. Default: companyName, else first and last name, else email, else phone. */
  name?: string | undefined;
  /** Given name. */
  firstName?: string | null | undefined;
  /** Family name. */
  lastName?: string | null | undefined;
  /** Name of the company. */
  companyName?: string | null | undefined;
  /** One e-mail address, kept as typed; compared without regard to case. */
  email?: string | null | undefined;
  /** Phone number, kept as typed; found by its digits. */
  phone?: string | null | undefined;
  /** The parts to change; an absent part stays, `null` clears it. */
  address?: AddressPatch | null | undefined;
  /** The parts to change; an absent part stays, `null` clears it. */
  shippingAddress?: AddressPatch | null | undefined;
  /** Tax or VAT number. */
  taxId?: string | null | undefined;
  /** Web site. */
  website?: string | null | undefined;
  /** Internal notes; the customer never sees them. */
  notes?: string | null | undefined;
  /** Labels, in the order given; up to 20, unique whatever their case. */
  tags?: readonly string[] | null | undefined;
  /** Your own id of this record in another system; unique per resource, case-sensitive. */
  externalId?: string | null | undefined;
  /**
   * Your own data: up to 50 keys (1..40 of `A-Z a-z 0-9 _ . -`) to strings of up to 500 characters. Numbers and booleans
   * are accepted too, and become strings. `null` removes a key, or all of them.
   */
  metadata?: Record<string, string | null | number | boolean> | null | undefined;
  /** An archived customer is retired: kept, but no longer in use. */
  status?: 'active' | 'archived' | undefined;
  /** Unique id; it never changes. */
  id?: string | undefined;
  /** When the record was created. */
  createdAt?: string | undefined;
  /** When the record last changed. */
  updatedAt?: string | undefined;
};

/** The parts to change; an absent part stays, `null` clears it. */
export type AddressPatch = {
  /** Street and number. */
  line1?: string | null | undefined;
  /** Building, floor, suite. */
  line2?: string | null | undefined;
  /** City or town. */
  city?: string | null | undefined;
  /** State, province or county. */
  region?: string | null | undefined;
  /** Postal code, as it is written there. */
  postalCode?: string | null | undefined;
  /** ISO 3166-1 alpha-2 country code; lower case is accepted and stored in upper case. */
  country?: string | null | undefined;
};

/** A page of records. */
export type ProposalList = {
  /** The records of this page, in the order asked for. */
  data: ListedProposal[];
  /** Where this page stands in its list. */
  pagination: Pagination;
  /**
   * On lists sorted by `updatedAt`: the value to send as the next `updatedSince` once `hasMore` is false, so that no
   * change is ever missed. `null` on other lists.
   */
  syncedThrough: string | null;
};

/** An offer to a customer; its lines are there with `include=lineItems` only. */
export type ListedProposal = {
  /** Unique id; it never changes. */
  id: string;
  /** Number that people use; unique in the organization. */
  number: string;
  /** What is offered. */
  title: string;
  /** Where the proposal stands. New values may be added. */
  status: 'draft' | 'sent' | 'viewed' | 'accepted' | 'declined' | 'expired' | 'canceled';
  /** When the status last changed. */
  statusChangedAt: string;
  /** The customer; `null` on a draft that has none yet. */
  customerId: string | null;
  /** The customer as it is now. */
  customer: CustomerSummary | null;
  /** ISO 4217 currency code, upper case. */
  currency: string;
  /** Sum of the counted lines’ subtotals, in `currency`, with exactly its decimals. */
  subtotal: string;
  /** Sum of the counted lines’ discounts, in `currency`, with exactly its decimals. */
  discountTotal: string;
  /** Sum of the counted lines’ taxes, in `currency`, with exactly its decimals. */
  taxTotal: string;
  /** subtotal − discountTotal + taxTotal, in `currency`, with exactly its decimals. */
  total: string;
  /** The lines, by position. */
  lineItems?: LineItem[] | undefined;
  /** How many lines there are. */
  lineItemCount: number;
  /** Text that the customer sees. */
  notes: string | null;
  /** Terms that the customer sees. */
  terms: string | null;
  /** When it was first sent. */
  sentAt: string | null;
  /** When it was first viewed by the customer. */
  viewedAt: string | null;
  /** When it was first accepted. */
  acceptedAt: string | null;
  /** When it was first declined. */
  declinedAt: string | null;
  /** When it was first expired. */
  expiredAt: string | null;
  /** When it was first canceled. */
  canceledAt: string | null;
  /** Who accepted it. */
  acceptedBy: {
    /** Name. */
    name: string;
    /** E-mail address. */
    email: string | null;
  } | null;
  /** Why the customer declined. */
  declineReason: string | null;
  /** Until when the offer stands. */
  expiresAt: string | null;
  /** The customer’s link. */
  publicUrl: string | null;
  /** The person responsible. */
  owner: {
    /** Name. */
    name: string;
    /** E-mail address. */
    email: string | null;
  } | null;
  /** Your own id of this record in another system; unique per resource, case-sensitive. */
  externalId: string | null;
  /** Your own data: up to 50 keys (1..40 of `A-Z a-z 0-9 _ . -`) to strings of up to 500 characters. */
  metadata: Record<string, string>;
  /** When the record was created. */
  createdAt: string;
  /** When the record last changed. */
  updatedAt: string;
};

/** The customer as it is now. */
export type CustomerSummary = {
  /** Unique id; it never changes. */
  id: string;
  /** Display name. */
  name: string;
  /** Name of the company. */
  companyName: string | null;
  /** E-mail address. */
  email: string | null;
  /** Phone number. */
  phone: string | null;
};

/** One line of a proposal. */
export type LineItem = {
  /** Unique id; it never changes. */
  id: string;
  /** Place in the proposal, from 1. */
  position: number;
  /** The catalog item; `null` where it is not from the catalog. */
  itemId: string | null;
  /** What is sold. */
  type: 'product' | 'service';
  /** What is offered, as the customer reads it. */
  name: string;
  /** More about it. */
  description: string | null;
  /** SKU at the time of the offer. */
  sku: string | null;
  /** How many; up to 4 decimals. */
  quantity: string;
  /** What one of it is. */
  unit: string | null;
  /** Price of one unit; negative for a credit. */
  unitPrice: string;
  /** Discount on the line, in `currency`, with exactly its decimals. */
  discountAmount: string;
  /** Tax rate in percent; `null` counts as 0. */
  taxRate: string | null;
  /** quantity × unitPrice, rounded, in `currency`, with exactly its decimals. */
  subtotal: string;
  /** (subtotal − discountAmount) × taxRate / 100, rounded, in `currency`, with exactly its decimals. */
  taxAmount: string;
  /** subtotal − discountAmount + taxAmount, in `currency`, with exactly its decimals. */
  total: string;
  /** Whether the customer may leave it out. */
  optional: boolean;
  /** Whether the totals count it. */
  selected: boolean;
};

/** Parameters of `/v1/proposals`. */
export type ProposalListQuery = {
  /** How many records a page holds. */
  limit?: number | undefined;
  /**
   * Where the page starts: `pagination.nextCursor` of the page before. It carries sort and filters, which may be
   * repeated or left out, but not changed.
   */
  cursor?: string | undefined;
  /** The order; `-` means descending, and the id breaks ties. */
  sort?: 'createdAt' | '-createdAt' | 'updatedAt' | '-updatedAt' | 'statusChangedAt' | '-statusChangedAt' | undefined;
  /** Only records whose `createdAt` is this time or later. RFC 3339 with a zone; a date alone means 00:00 UTC. */
  createdSince?: string | Date | undefined;
  /** Only records whose `createdAt` is before this time. RFC 3339 with a zone; a date alone means 00:00 UTC. */
  createdBefore?: string | Date | undefined;
  /** Only records whose `updatedAt` is this time or later. RFC 3339 with a zone; a date alone means 00:00 UTC. */
  updatedSince?: string | Date | undefined;
  /** Only records whose `updatedAt` is before this time. RFC 3339 with a zone; a date alone means 00:00 UTC. */
  updatedBefore?: string | Date | undefined;
  /** Search: each word must occur somewhere in the searched fields, whatever its case and accents. */
  q?: string | undefined;
  /** Exactly this externalId. */
  externalId?: string | undefined;
  /** Exact values of metadata keys, as `metadata[key]=value`; up to 5, all of which must match. */
  metadata?: Record<string, string> | undefined;
  /** Only proposals in one of these statuses: a comma list, or repeated. */
  status?: 'draft' | 'sent' | 'viewed' | 'accepted' | 'declined' | 'expired' | 'canceled' | readonly ('draft' | 'sent' | 'viewed' | 'accepted' | 'declined' | 'expired' | 'canceled')[] | undefined;
  /** Only proposals to this customer. */
  customerId?: string | undefined;
  /** Exactly this number. */
  number?: string | undefined;
  /** Only proposals whose `expiresAt` is before this time. RFC 3339 with a zone; a date alone means 00:00 UTC. */
  expiresBefore?: string | Date | undefined;
  /** Only records whose `statusChangedAt` is this time or later. RFC 3339 with a zone; a date alone means 00:00 UTC. */
  statusChangedSince?: string | Date | undefined;
  /** Only records whose `statusChangedAt` is before this time. RFC 3339 with a zone; a date alone means 00:00 UTC. */
  statusChangedBefore?: string | Date | undefined;
  /** What else each record holds: `lineItems`, its lines. */
  include?: 'lineItems' | readonly 'lineItems'[] | undefined;
};

/** An offer to a customer, with its lines. */
export type Proposal = {
  /** Unique id; it never changes. */
  id: string;
  /** Number that people use; unique in the organization. */
  number: string;
  /** What is offered. */
  title: string;
  /** Where the proposal stands. New values may be added. */
  status: 'draft' | 'sent' | 'viewed' | 'accepted' | 'declined' | 'expired' | 'canceled';
  /** When the status last changed. */
  statusChangedAt: string;
  /** The customer; `null` on a draft that has none yet. */
  customerId: string | null;
  /** The customer as it is now. */
  customer: CustomerSummary | null;
  /** ISO 4217 currency code, upper case. */
  currency: string;
  /** Sum of the counted lines’ subtotals, in `currency`, with exactly its decimals. */
  subtotal: string;
  /** Sum of the counted lines’ discounts, in `currency`, with exactly its decimals. */
  discountTotal: string;
  /** Sum of the counted lines’ taxes, in `currency`, with exactly its decimals. */
  taxTotal: string;
  /** subtotal − discountTotal + taxTotal, in `currency`, with exactly its decimals. */
  total: string;
  /** The lines, by position. */
  lineItems: LineItem[];
  /** How many lines there are. */
  lineItemCount: number;
  /** Text that the customer sees. */
  notes: string | null;
  /** Terms that the customer sees. */
  terms: string | null;
  /** When it was first sent. */
  sentAt: string | null;
  /** When it was first viewed by the customer. */
  viewedAt: string | null;
  /** When it was first accepted. */
  acceptedAt: string | null;
  /** When it was first declined. */
  declinedAt: string | null;
  /** When it was first expired. */
  expiredAt: string | null;
  /** When it was first canceled. */
  canceledAt: string | null;
  /** Who accepted it. */
  acceptedBy: {
    /** Name. */
    name: string;
    /** E-mail address. */
    email: string | null;
  } | null;
  /** Why the customer declined. */
  declineReason: string | null;
  /** Until when the offer stands. */
  expiresAt: string | null;
  /** The customer’s link. */
  publicUrl: string | null;
  /** The person responsible. */
  owner: {
    /** Name. */
    name: string;
    /** E-mail address. */
    email: string | null;
  } | null;
  /** Your own id of this record in another system; unique per resource, case-sensitive. */
  externalId: string | null;
  /** Your own data: up to 50 keys (1..40 of `A-Z a-z 0-9 _ . -`) to strings of up to 500 characters. */
  metadata: Record<string, string>;
  /** When the record was created. */
  createdAt: string;
  /** When the record last changed. */
  updatedAt: string;
};

/** A page of records. */
export type ItemList = {
  /** The records of this page, in the order asked for. */
  data: Item[];
  /** Where this page stands in its list. */
  pagination: Pagination;
  /**
   * On lists sorted by `updatedAt`: the value to send as the next `updatedSince` once `hasMore` is false, so that no
   * change is ever missed. `null` on other lists.
   */
  syncedThrough: string | null;
};

/** A product or service of the catalog. */
export type Item = {
  /** Unique id; it never changes. */
  id: string;
  /** What is sold. */
  type: 'product' | 'service';
  /** Name, as a proposal shows it. */
  name: string;
  /** What it is, for the customer. */
  description: string | null;
  /** Stock keeping unit; unique in the organization, whatever its case. */
  sku: string | null;
  /** Price of one unit in `currency`, with at least the currency’s own decimals and up to 4. */
  unitPrice: string;
  /** ISO 4217 currency code, upper case. */
  currency: string;
  /** What one of it is. */
  unit: string | null;
  /** Whether tax is due on it. */
  taxable: boolean;
  /** Tax rate in percent. */
  taxRate: string | null;
  /** Category in the catalog. */
  category: string | null;
  /** Picture. */
  imageUrl: string | null;
  /** Your own id of this record in another system; unique per resource, case-sensitive. */
  externalId: string | null;
  /** Your own data: up to 50 keys (1..40 of `A-Z a-z 0-9 _ . -`) to strings of up to 500 characters. */
  metadata: Record<string, string>;
  /** An archived item is no longer offered. */
  status: 'active' | 'archived';
  /** When the record was created. */
  createdAt: string;
  /** When the record last changed. */
  updatedAt: string;
};

/** Parameters of `/v1/items`. */
export type ItemListQuery = {
  /** How many records a page holds. */
  limit?: number | undefined;
  /**
   * Where the page starts: `pagination.nextCursor` of the page before. It carries sort and filters, which may be
   * repeated or left out, but not changed.
   */
  cursor?: string | undefined;
  /** The order; `-` means descending, and the id breaks ties. */
  sort?: 'createdAt' | '-createdAt' | 'updatedAt' | '-updatedAt' | 'name' | '-name' | undefined;
  /** Only records whose `createdAt` is this time or later. RFC 3339 with a zone; a date alone means 00:00 UTC. */
  createdSince?: string | Date | undefined;
  /** Only records whose `createdAt` is before this time. RFC 3339 with a zone; a date alone means 00:00 UTC. */
  createdBefore?: string | Date | undefined;
  /** Only records whose `updatedAt` is this time or later. RFC 3339 with a zone; a date alone means 00:00 UTC. */
  updatedSince?: string | Date | undefined;
  /** Only records whose `updatedAt` is before this time. RFC 3339 with a zone; a date alone means 00:00 UTC. */
  updatedBefore?: string | Date | undefined;
  /** Search: each word must occur somewhere in the searched fields, whatever its case and accents. */
  q?: string | undefined;
  /** Exactly this externalId. */
  externalId?: string | undefined;
  /** Exact values of metadata keys, as `metadata[key]=value`; up to 5, all of which must match. */
  metadata?: Record<string, string> | undefined;
  /** Only items of this type. */
  type?: 'product' | 'service' | undefined;
  /** Exactly this SKU, whatever its case. */
  sku?: string | undefined;
  /** Exactly this category. */
  category?: string | undefined;
  /** Only items in this status. */
  status?: 'active' | 'archived' | 'all' | undefined;
};

/** A new catalog item; it starts `active`. */
export type ItemCreate = {
  /** What is sold. */
  type: 'product' | 'service';
  /** Name, as a proposal shows it. */
  name: string;
  /** What it is, for the customer. */
  description?: string | null | undefined;
  /** Stock keeping unit; unique in the organization, whatever its case. */
  sku?: string | null | undefined;
  /** Price of one unit. From 0 to 999999999.9999, up to 4 decimals; a JSON number is accepted too. */
  unitPrice: string | number;
  /** ISO 4217 currency code, upper case. Default: the organization’s. */
  currency?: string | undefined;
  /** What one of it is. */
  unit?: string | null | undefined;
  /** Whether tax is due on it. Default: `true`. */
  taxable?: boolean | undefined;
  /** Tax rate in percent. From 0 to 100, up to 4 decimals; a JSON number is accepted too. */
  taxRate?: string | number | null | undefined;
  /** Category in the catalog. */
  category?: string | null | undefined;
  /** Picture. */
  imageUrl?: string | null | undefined;
  /** Your own id of this record in another system; unique per resource, case-sensitive. */
  externalId?: string | null | undefined;
  /**
   * Your own data: up to 50 keys (1..40 of `A-Z a-z 0-9 _ . -`) to strings of up to 500 characters. Numbers and booleans
   * are accepted too, and become strings.
   */
  metadata?: Record<string, string | number | boolean | null> | null | undefined;
};

/** Options of `POST /v1/items`. */
export type CreateItemOptions = CreateOptions & {
  /**
   * Where another item has this externalId: `error` answers 409, `return` 200 with that item as it is. Needs an
   * externalId in the body.
   */
  onConflict?: 'error' | 'return' | undefined;
};

/** A failure, as RFC 9457 `application/problem+json`. */
export type Problem = {
  /** A URL that identifies the kind of problem, and explains it. */
  type: string;
  /** The kind of problem, for people. */
  title: string;
  /** The HTTP status. */
  status: number;
  /** What happened here, and what to do. */
  detail: string;
  /** The kind of problem, for programs. */
  code: string;
  /** The value of `X-Request-Id`, to quote to support. */
  requestId: string;
  /** Everything that is wrong, each with its place; `[]` where there is nothing to point at. */
  errors: ProblemError[];
  /** With `external_id_taken` and `sku_taken`: the record that has it. */
  existingId?: string | undefined;
  /** With `precondition_failed`: the ETag that the record has now. */
  currentEtag?: string | undefined;
};

/** One thing that is wrong with a request. */
export type ProblemError = {
  /** Where the value came in. */
  in: 'body' | 'query' | 'path' | 'header';
  /** The field, parameter or header, with dots. */
  field: string;
  /** JSON Pointer (RFC 6901) into the body; `null` elsewhere. */
  pointer: string | null;
  /**
   * What is wrong, for programs: in a body one of `required`, `invalid_type`, `too_short`, `too_long`, `invalid_email`,
   * `invalid_url`, `invalid_country`, `invalid_currency`, `invalid_decimal`, `too_many_decimals`, `out_of_range`,
   * `invalid_enum`, `unknown_field`, `read_only_field`, `invalid_characters`, `too_many_items`, `duplicate_item`;
   * elsewhere the problem's own code.
   */
  code: string;
  /** What is wrong, for people; it continues the name of the field. */
  message: string;
  /** The nearest valid name or value, where there is one. */
  suggestion?: string | undefined;
};

/** The kinds of problem. */
export type ProblemCode =
  | 'malformed_request'
  | 'malformed_json'
  | 'invalid_parameter'
  | 'unknown_parameter'
  | 'duplicate_parameter'
  | 'invalid_cursor'
  | 'cursor_mismatch'
  | 'invalid_header'
  | 'api_key_missing'
  | 'api_key_malformed'
  | 'api_key_invalid'
  | 'api_key_revoked'
  | 'plan_required'
  | 'route_not_found'
  | 'not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'external_id_taken'
  | 'sku_taken'
  | 'idempotency_in_progress'
  | 'precondition_failed'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'validation_failed'
  | 'idempotency_key_reused'
  | 'rate_limited'
  | 'headers_too_large'
  | 'internal_error'
  | 'unavailable';

/** What can be wrong with one field or parameter. */
export type FieldCode =
  | 'required'
  | 'invalid_type'
  | 'too_short'
  | 'too_long'
  | 'invalid_email'
  | 'invalid_url'
  | 'invalid_country'
  | 'invalid_currency'
  | 'invalid_decimal'
  | 'too_many_decimals'
  | 'out_of_range'
  | 'invalid_enum'
  | 'unknown_field'
  | 'read_only_field'
  | 'invalid_characters'
  | 'too_many_items'
  | 'duplicate_item';

/** The organization and the key that are calling. */
export type MeApi = {
  /** Tests a connection: which organization a key belongs to, its plan, and how much of the rate limit is left. */
  get: Method<[options?: CallOptions], Me>;
};

/** The people and companies that the organization sells to. */
export type CustomersApi = {
  /**
   * A page of the organization’s customers, newest first unless sorted otherwise. `q` looks in name, firstName,
   * lastName, companyName, email and phone.
   */
  list: ListMethod<CustomerListQuery, CustomerList>;
  /** Every record that changed since `since`, oldest change first; see {@link Sync}. */
  sync: SyncMethod<CustomerListQuery, CustomerList>;
  /**
   * One customer by id.
   *
   * Throws `not_found`.
   */
  get: Method<[customerId: string, options?: CallOptions], Customer>;
  /**
   * Makes a customer; the answer is the stored record.
   *
   * Throws `external_id_taken`, `idempotency_in_progress`, `payload_too_large`, `unsupported_media_type`,
   * `validation_failed`, `idempotency_key_reused`.
   */
  create: Method<[body: CustomerCreate, options?: CreateCustomerOptions], Customer>;
  /**
   * JSON Merge Patch (RFC 7396), as `application/json` or `application/merge-patch+json`: what is absent stays, `null`
   * clears, objects merge, arrays are replaced. A patch that changes nothing changes nothing, `updatedAt` included.
   *
   * Throws `not_found`, `external_id_taken`, `precondition_failed`, `payload_too_large`, `unsupported_media_type`,
   * `validation_failed`.
   */
  update: Method<[customerId: string, body: CustomerUpdate, options?: UpdateOptions], Customer>;
};

/** What the organization offers to its customers, line by line. Read-only. */
export type ProposalsApi = {
  /**
   * A page of the organization’s proposals, newest first unless sorted otherwise. `q` looks in number, title and the
   * customer’s name.
   */
  list: ListMethod<ProposalListQuery, ProposalList>;
  /** Every record that changed since `since`, oldest change first; see {@link Sync}. */
  sync: SyncMethod<ProposalListQuery, ProposalList>;
  /**
   * One proposal by id, with its lines.
   *
   * Throws `not_found`.
   */
  get: Method<[proposalId: string, options?: CallOptions], Proposal>;
};

/** The catalog of products and services that proposals are made of. */
export type ItemsApi = {
  /** A page of the catalog, newest first unless sorted otherwise. `q` looks in name, sku and description. */
  list: ListMethod<ItemListQuery, ItemList>;
  /** Every record that changed since `since`, oldest change first; see {@link Sync}. */
  sync: SyncMethod<ItemListQuery, ItemList>;
  /**
   * One catalog item by id.
   *
   * Throws `not_found`.
   */
  get: Method<[itemId: string, options?: CallOptions], Item>;
  /**
   * Adds an item to the catalog; the answer is the stored record.
   *
   * Throws `external_id_taken`, `sku_taken`, `idempotency_in_progress`, `payload_too_large`, `unsupported_media_type`,
   * `validation_failed`, `idempotency_key_reused`.
   */
  create: Method<[body: ItemCreate, options?: CreateItemOptions], Item>;
};

/** The API of one organization, called with one of its keys. */
export type Client = {
  /** The organization and the key that are calling. */
  me: MeApi;
  /** The people and companies that the organization sells to. */
  customers: CustomersApi;
  /** What the organization offers to its customers, line by line. Read-only. */
  proposals: ProposalsApi;
  /** The catalog of products and services that proposals are made of. */
  items: ItemsApi;
};

/** @internal The method and path of each operation. */
export const operations = {
  me: {
    get: { method: 'GET', path: '/v1/me' },
  },
  customers: {
    list: { method: 'GET', path: '/v1/customers', list: true },
    get: { method: 'GET', path: '/v1/customers/:customerId' },
    create: { method: 'POST', path: '/v1/customers' },
    update: { method: 'PATCH', path: '/v1/customers/:customerId' },
  },
  proposals: {
    list: { method: 'GET', path: '/v1/proposals', list: true },
    get: { method: 'GET', path: '/v1/proposals/:proposalId' },
  },
  items: {
    list: { method: 'GET', path: '/v1/items', list: true },
    get: { method: 'GET', path: '/v1/items/:itemId' },
    create: { method: 'POST', path: '/v1/items' },
  },
} as const;

/** @internal The most records that a page can hold. */
export const largestPage = 100;
