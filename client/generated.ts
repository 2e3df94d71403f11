/** Generated from the contract by `npm run generate`. Do not edit: change the contract instead. */

import type { ConditionalMethod, ListMethod, Method, SyncMethod } from './methods.ts';
import type { CallOptions, TagsChange } from './options.ts';

/** New values may be added. */
export type Plan = 'free' | 'team' | (string & {});

/** The calling organization and key. */
export type Me = {
  /** A label for this connection, on one line. */
  label: string;
  /** The organization’s plan. */
  plan: Plan;
  /** The organization whose data this key reads and writes. */
  organization: {
    /** Unique id; it never changes. */
    id: string;
    /** Name of the organization. */
    name: string;
    /** Short name for URLs. */
    slug: string;
    /** ISO 4217 currency code, in upper case. */
    currency: string;
    /** When the organization was created. */
    createdAt: string;
  };
  /** The key of this request; its secret is never shown again. */
  key: {
    /** Unique id; it never changes. */
    id: string;
    /** Name of the key. */
    name: string;
    /** First and last characters of the key. */
    maskedKey: string;
    /** When the key was created. */
    createdAt: string;
    /** When the key was last used, to within a minute; `null` if never. */
    lastUsedAt: string | null;
    /** When the key stops working; `null` if it works until it is revoked. */
    expiresAt: string | null;
  };
  /** The rate limit of this key. */
  rateLimit: {
    /** Requests allowed per window. */
    limit: number;
    /** Requests left in the current window. */
    remaining: number;
    /** Length of the sliding window, in seconds. */
    windowSeconds: number;
    /** Seconds until the oldest counted request leaves the window. */
    resetSeconds: number;
  };
};

/** A page of customers. */
export type CustomerList = {
  /** The records of this page, in the requested order. */
  data: Customer[];
  /** How to get the next page. */
  pagination: Pagination;
  /**
   * On lists sorted by `updatedAt`: when `hasMore` is false, use this value as the next `updatedSince` so that you miss
   * no changes. `null` on other lists.
   */
  syncedThrough: string | null;
};

/** New values may be added. */
export type CustomerType = 'person' | 'company' | (string & {});

/** New values may be added. */
export type CustomerStatus = 'active' | 'archived' | (string & {});

/** A person or company that the organization sells to. */
export type Customer = {
  /** Unique id; it never changes. */
  id: string;
  /**
   * Whether this is a person or a company. Default on create: `company` if companyName is given without firstName and
   * lastName, else `person`.
   */
  type: CustomerType;
  /** Display name. Default on create: companyName, else firstName and lastName, else email, else phone. */
  name: string;
  /** Given name. */
  firstName: string | null;
  /** Family name. */
  lastName: string | null;
  /** Company name. */
  companyName: string | null;
  /** One email address, stored as typed and compared ignoring case. */
  email: string | null;
  /** Phone number with at least 3 digits, stored as typed and searched by its digits. */
  phone: string | null;
  /** A postal address; `null` if every part of it is `null`. */
  address: Address | null;
  /** The delivery address; `null` if every part of it is `null`. */
  shippingAddress: Address | null;
  /** Tax or VAT number. */
  taxId: string | null;
  /** Website: an `http://` or `https://` URL. */
  website: string | null;
  /** Internal notes, never shown to the customer. */
  notes: string | null;
  /** Tags, in the order given: up to 20, unique ignoring case. */
  tags: string[];
  /** The id of this record in your own system; unique per resource, case-sensitive. */
  externalId: string | null;
  /**
   * Your own key-value pairs: up to 50 keys (1 to 40 characters from A–Z a–z 0–9 _ . -), each with a string of up to 500
   * characters.
   */
  metadata: Record<string, string>;
  /** `archived` customers are kept but no longer in use. */
  status: CustomerStatus;
  /**
   * When the personal data of this customer was erased on request; `null` if it was not. Erase your copies, too; an
   * erased customer can no longer be changed.
   */
  erasedAt: string | null;
  /** When the record was created. */
  createdAt: string;
  /** When the record last changed. */
  updatedAt: string;
  /**
   * Identifies this version of the record. Send it as `If-Match` to change the record only if nobody else has, or as
   * `If-None-Match` to fetch it only if it has changed.
   */
  etag: string;
};

/** A postal address; `null` if every part of it is `null`. */
export type Address = {
  /** Street and number. */
  line1: string | null;
  /** Building, floor, suite. */
  line2: string | null;
  /** City or town. */
  city: string | null;
  /** State, province or county. */
  region: string | null;
  /** Postal code, in the form used in that country. */
  postalCode: string | null;
  /** Two-letter country code (ISO 3166-1 alpha-2). */
  country: string | null;
};

/** How to get the next page. */
export type Pagination = {
  /** The number of records per page, as requested. */
  limit: number;
  /** Whether another page follows. */
  hasMore: boolean;
  /** The `cursor` of the next page; `null` on the last page. */
  nextCursor: string | null;
  /** The URL of the next page; `null` on the last page. */
  nextUrl: string | null;
};

/** Parameters of `/v1/customers`. */
export type CustomerListQuery = {
  /** The number of records on a page. From 1 to 100. Default: `25`. */
  limit?: number | undefined;
  /**
   * Where the page starts: `pagination.nextCursor` of the previous page. It carries the sort and filters. You may repeat
   * or omit them, but not change them.
   */
  cursor?: string | undefined;
  /** The order; `-` means descending. Ties are broken by id. Default: `-createdAt`. */
  sort?: 'createdAt' | '-createdAt' | 'updatedAt' | '-updatedAt' | 'name' | '-name' | undefined;
  /**
   * Only records whose `createdAt` is at or after this time. RFC 3339 with a time zone; a date alone means 00:00 UTC.
   */
  createdSince?: string | Date | undefined;
  /** Only records whose `createdAt` is before this time. RFC 3339 with a time zone; a date alone means 00:00 UTC. */
  createdBefore?: string | Date | undefined;
  /**
   * Only records whose `updatedAt` is at or after this time. RFC 3339 with a time zone; a date alone means 00:00 UTC.
   */
  updatedSince?: string | Date | undefined;
  /** Only records whose `updatedAt` is before this time. RFC 3339 with a time zone; a date alone means 00:00 UTC. */
  updatedBefore?: string | Date | undefined;
  /**
   * Search in name, firstName, lastName, companyName, email, phone (by its digits), city, postalCode, country (by its
   * name or code) and externalId. Every word must be found in one of these fields; case, accents and punctuation are
   * ignored. Up to 8 words.
   */
  q?: string | undefined;
  /** Only the customers with these ids; ids that do not exist are left out. */
  ids?: string | readonly string[] | undefined;
  /** Only the record with exactly this externalId. */
  externalId?: string | undefined;
  /** Only records with these metadata values; up to 5, all of which must match. */
  metadata?: Record<string, string> | undefined;
  /** Only customers with exactly this email address, ignoring case. */
  email?: string | undefined;
  /**
   * Only customers with this phone number. Digits are compared: 7 or more match the end of the number, fewer must match
   * all of it.
   */
  phone?: string | undefined;
  /** Only customers whose address is in this country: a two-letter code (ISO 3166-1 alpha-2), in either case. */
  country?: string | undefined;
  /** Only customers with this tag, ignoring case. */
  tag?: string | undefined;
  /** Only customers with this status; `all` includes archived ones. Default: `all`. */
  status?: 'active' | 'archived' | 'all' | undefined;
};

/** Options of `GET /v1/customers/{customerId}`. */
export type GetCustomerOptions = CallOptions & {
  /** Returns the record only if its current `etag` is not this one. If it is, the method returns `null`. */
  ifNoneMatch?: string | undefined;
};

/** Options of `POST /v1/customers`. */
export type CreateCustomerOptions = CallOptions & {
  /**
   * What to do if another customer already has this externalId: `error` fails with `external_id_taken`, `return` returns
   * that customer unchanged, `update` merges the body into it. `return` and `update` need an externalId in the body.
   * With `update`, `If-Match` makes the change conditional. Default: `error`.
   */
  onConflict?: 'error' | 'return' | 'update' | undefined;
  /**
   * Makes retries safe: within 24 hours, a repeated request with the same key and body returns the original response,
   * and no second record is created. Use a new value, such as a UUID, for each record. Default: a new UUID for each
   * call, kept across its retries. Pass your own to be safe across restarts.
   */
  idempotencyKey?: string | undefined;
  /**
   * Changes the record only if its current `etag` is this one; otherwise fails with `precondition_failed`. If a response
   * is lost, the retry can fail because of its own change: compare the record before concluding that someone else
   * changed it.
   */
  ifMatch?: string | undefined;
};

/**
 * A new customer. It needs at least one of name, companyName, firstName, lastName, email and phone. An empty string in
 * an optional field counts as absent.
 */
export type CustomerCreate = {
  /**
   * Whether this is a person or a company. Default on create: `company` if companyName is given without firstName and
   * lastName, else `person`.
   */
  type?: 'person' | 'company' | undefined;
  /** Display name. Default on create: companyName, else firstName and lastName, else email, else phone. */
  name?: string | undefined;
  /** Given name. */
  firstName?: string | null | undefined;
  /** Family name. */
  lastName?: string | null | undefined;
  /** Company name. */
  companyName?: string | null | undefined;
  /** One email address, stored as typed and compared ignoring case. */
  email?: string | null | undefined;
  /** Phone number with at least 3 digits, stored as typed and searched by its digits. */
  phone?: string | null | undefined;
  /** A postal address. Absent, `null` and empty parts are treated as unknown. */
  address?: AddressInput | null | undefined;
  /** A postal address. Absent, `null` and empty parts are treated as unknown. */
  shippingAddress?: AddressInput | null | undefined;
  /** Tax or VAT number. */
  taxId?: string | null | undefined;
  /** Website: an `http://` or `https://` URL. */
  website?: string | null | undefined;
  /** Internal notes, never shown to the customer. */
  notes?: string | null | undefined;
  /**
   * Tags, in the order given: up to 20, unique ignoring case. A list replaces all tags. To keep the others, send `{
   * "add": [...], "remove": [...] }` instead.
   */
  tags?: readonly string[] | null | TagsChange | undefined;
  /** The id of this record in your own system; unique per resource, case-sensitive. */
  externalId?: string | null | undefined;
  /**
   * Your own key-value pairs: up to 50 keys (1 to 40 characters from A–Z a–z 0–9 _ . -), each with a string of up to 500
   * characters. Numbers and booleans are accepted too, and become strings. `null` removes a key, or all of them.
   */
  metadata?: Record<string, string | null | number | boolean> | null | undefined;
  /** `archived` customers are kept but no longer in use. */
  status?: 'active' | 'archived' | undefined;
};

/** A postal address. Absent, `null` and empty parts are treated as unknown. */
export type AddressInput = {
  /** Street and number. */
  line1?: string | null | undefined;
  /** Building, floor, suite. */
  line2?: string | null | undefined;
  /** City or town. */
  city?: string | null | undefined;
  /** State, province or county. */
  region?: string | null | undefined;
  /** Postal code, in the form used in that country. */
  postalCode?: string | null | undefined;
  /** Two-letter country code (ISO 3166-1 alpha-2); lower case is accepted and stored in upper case. */
  country?: string | null | undefined;
};

/** Options of `PATCH /v1/customers/{customerId}`. */
export type UpdateCustomerOptions = CallOptions & {
  /**
   * Changes the record only if its current `etag` is this one; otherwise fails with `precondition_failed`. If a response
   * is lost, the retry can fail because of its own change: compare the record before concluding that someone else
   * changed it.
   */
  ifMatch?: string | undefined;
};

/**
 * A JSON Merge Patch (RFC 7396): absent fields keep their values, and `null` clears a field. Read-only fields are
 * accepted if they equal the stored values.
 */
export type CustomerUpdate = {
  /** Unique id; it never changes. */
  id?: string | undefined;
  /**
   * Whether this is a person or a company. Default on create: `company` if companyName is given without firstName and
   * lastName, else `person`.
   */
  type?: 'person' | 'company' | undefined;
  /** Display name. Default on create: companyName, else firstName and lastName, else email, else phone. */
  name?: string | undefined;
  /** Given name. */
  firstName?: string | null | undefined;
  /** Family name. */
  lastName?: string | null | undefined;
  /** Company name. */
  companyName?: string | null | undefined;
  /** One email address, stored as typed and compared ignoring case. */
  email?: string | null | undefined;
  /** Phone number with at least 3 digits, stored as typed and searched by its digits. */
  phone?: string | null | undefined;
  /** The parts to change. An absent part keeps its value, and `null` clears it. */
  address?: AddressPatch | null | undefined;
  /** The parts to change. An absent part keeps its value, and `null` clears it. */
  shippingAddress?: AddressPatch | null | undefined;
  /** Tax or VAT number. */
  taxId?: string | null | undefined;
  /** Website: an `http://` or `https://` URL. */
  website?: string | null | undefined;
  /** Internal notes, never shown to the customer. */
  notes?: string | null | undefined;
  /**
   * Tags, in the order given: up to 20, unique ignoring case. A list replaces all tags. To keep the others, send `{
   * "add": [...], "remove": [...] }` instead.
   */
  tags?: readonly string[] | null | TagsChange | undefined;
  /** The id of this record in your own system; unique per resource, case-sensitive. */
  externalId?: string | null | undefined;
  /**
   * Your own key-value pairs: up to 50 keys (1 to 40 characters from A–Z a–z 0–9 _ . -), each with a string of up to 500
   * characters. Numbers and booleans are accepted too, and become strings. `null` removes a key, or all of them.
   */
  metadata?: Record<string, string | null | number | boolean> | null | undefined;
  /** `archived` customers are kept but no longer in use. */
  status?: 'active' | 'archived' | undefined;
  /**
   * When the personal data of this customer was erased on request; `null` if it was not. Erase your copies, too; an
   * erased customer can no longer be changed.
   */
  erasedAt?: string | null | undefined;
  /** When the record was created. */
  createdAt?: string | undefined;
  /** When the record last changed. */
  updatedAt?: string | undefined;
  /**
   * Identifies this version of the record. Send it as `If-Match` to change the record only if nobody else has, or as
   * `If-None-Match` to fetch it only if it has changed.
   */
  etag?: string | undefined;
};

/** The parts to change. An absent part keeps its value, and `null` clears it. */
export type AddressPatch = {
  /** Street and number. */
  line1?: string | null | undefined;
  /** Building, floor, suite. */
  line2?: string | null | undefined;
  /** City or town. */
  city?: string | null | undefined;
  /** State, province or county. */
  region?: string | null | undefined;
  /** Postal code, in the form used in that country. */
  postalCode?: string | null | undefined;
  /** Two-letter country code (ISO 3166-1 alpha-2); lower case is accepted and stored in upper case. */
  country?: string | null | undefined;
};

/** A page of proposals. */
export type ProposalList = {
  /** The records of this page, in the requested order. */
  data: ListedProposal[];
  /** How to get the next page. */
  pagination: Pagination;
  /**
   * On lists sorted by `updatedAt`: when `hasMore` is false, use this value as the next `updatedSince` so that you miss
   * no changes. `null` on other lists.
   */
  syncedThrough: string | null;
};

/** New values may be added. */
export type ProposalStatus = 'draft' | 'sent' | 'viewed' | 'accepted' | 'declined' | 'expired' | 'canceled' | (string & {});

/** An offer to a customer. Its lines are present only with `include=lineItems`. */
export type ListedProposal = {
  /** Unique id; it never changes. */
  id: string;
  /** Human-readable number of the proposal; unique within the organization. */
  number: string;
  /** Title. */
  title: string;
  /**
   * The status of the proposal. The organization’s application changes it, never this API: a proposal whose `expiresAt`
   * has passed keeps its status until the application sets it to `expired`. `statusChangedAt` is the time of the last
   * change; `sentAt`, `acceptedAt` and the other times say when each status was first reached. An accepted proposal can
   * be canceled, or sent and accepted again: `acceptedAt` is then still the first acceptance, and `status` is the
   * current state. New values may be added.
   */
  status: ProposalStatus;
  /** When the status last changed. */
  statusChangedAt: string;
  /** The id of the customer; `null` on a draft or canceled proposal without one. */
  customerId: string | null;
  /**
   * The customer, with its current details. Fields besides id, name, companyName, email, phone and erasedAt are present
   * only with `include=customer`.
   */
  customer: ListedCustomer | null;
  /** ISO 4217 currency code, in upper case. */
  currency: string;
  /** Sum of the subtotals of all selected lines, in `currency`, with exactly as many decimals as the currency has. */
  subtotal: string;
  /** Sum of the discounts of all selected lines, in `currency`, with exactly as many decimals as the currency has. */
  discountTotal: string;
  /** Sum of the taxes of all selected lines, in `currency`, with exactly as many decimals as the currency has. */
  taxTotal: string;
  /** subtotal − discountTotal + taxTotal, in `currency`, with exactly as many decimals as the currency has. */
  total: string;
  /** The lines, in order of position. */
  lineItems?: LineItem[] | undefined;
  /** The number of lines. */
  lineItemCount: number;
  /** Notes that the customer sees. */
  notes: string | null;
  /** Terms that the customer sees. */
  terms: string | null;
  /** When the proposal was first sent; `null` if not yet, or if unknown. */
  sentAt: string | null;
  /** When the proposal was first viewed by the customer; `null` if not yet, or if unknown. */
  viewedAt: string | null;
  /** When the proposal was first accepted; `null` if not yet, or if unknown. */
  acceptedAt: string | null;
  /** When the proposal was first declined; `null` if not yet, or if unknown. */
  declinedAt: string | null;
  /** When the proposal first expired; `null` if not yet, or if unknown. */
  expiredAt: string | null;
  /** When the proposal was first canceled; `null` if not yet, or if unknown. */
  canceledAt: string | null;
  /** The person who accepted the proposal. */
  acceptedBy: {
    /** Name. */
    name: string;
    /** Email address. */
    email: string | null;
  } | null;
  /** Why the customer declined. */
  declineReason: string | null;
  /** When the offer expires. */
  expiresAt: string | null;
  /** The URL at which the customer sees the proposal. */
  publicUrl: string | null;
  /** The person in the organization who is responsible for the proposal. */
  owner: {
    /** Name. */
    name: string;
    /** Email address. */
    email: string | null;
  } | null;
  /** The id of this record in your own system; unique per resource, case-sensitive. */
  externalId: string | null;
  /**
   * Your own key-value pairs: up to 50 keys (1 to 40 characters from A–Z a–z 0–9 _ . -), each with a string of up to 500
   * characters.
   */
  metadata: Record<string, string>;
  /** When the record was created. */
  createdAt: string;
  /** When the record last changed. */
  updatedAt: string;
  /**
   * Identifies this version of the proposal and its customer, as returned here: it also changes when the customer does,
   * although `updatedAt` does not. Send it as `If-None-Match` to fetch the proposal only if it has changed.
   */
  etag: string;
};

/**
 * The customer, with its current details. Fields besides id, name, companyName, email, phone and erasedAt are present
 * only with `include=customer`.
 */
export type ListedCustomer = {
  /** Unique id; it never changes. */
  id: string;
  /**
   * Whether this is a person or a company. Default on create: `company` if companyName is given without firstName and
   * lastName, else `person`.
   */
  type?: CustomerType | undefined;
  /** Display name. */
  name: string;
  /** Given name. */
  firstName?: string | null | undefined;
  /** Family name. */
  lastName?: string | null | undefined;
  /** Company name. */
  companyName: string | null;
  /** Email address. */
  email: string | null;
  /** Phone number. */
  phone: string | null;
  /** A postal address; `null` if every part of it is `null`. */
  address?: Address | null | undefined;
  /** The delivery address; `null` if every part of it is `null`. */
  shippingAddress?: Address | null | undefined;
  /** Tax or VAT number. */
  taxId?: string | null | undefined;
  /** Website: an `http://` or `https://` URL. */
  website?: string | null | undefined;
  /** Internal notes, never shown to the customer. */
  notes?: string | null | undefined;
  /** Tags, in the order given: up to 20, unique ignoring case. */
  tags?: string[] | undefined;
  /** The id of this record in your own system; unique per resource, case-sensitive. */
  externalId?: string | null | undefined;
  /**
   * Your own key-value pairs: up to 50 keys (1 to 40 characters from A–Z a–z 0–9 _ . -), each with a string of up to 500
   * characters.
   */
  metadata?: Record<string, string> | undefined;
  /** `archived` customers are kept but no longer in use. */
  status?: CustomerStatus | undefined;
  /**
   * When the personal data of this customer was erased on request; `null` if it was not. Erase your copies, too; an
   * erased customer can no longer be changed.
   */
  erasedAt: string | null;
  /** When the record was created. */
  createdAt?: string | undefined;
  /** When the record last changed. */
  updatedAt?: string | undefined;
  /**
   * Identifies this version of the record. Send it as `If-Match` to change the record only if nobody else has, or as
   * `If-None-Match` to fetch it only if it has changed.
   */
  etag?: string | undefined;
};

/** New values may be added. */
export type ItemType = 'product' | 'service' | (string & {});

/** One line of a proposal. */
export type LineItem = {
  /** Unique id; it never changes. */
  id: string;
  /** Position within the proposal, starting at 1. */
  position: number;
  /** The catalog item; `null` if the line is not from the catalog. */
  itemId: string | null;
  /** Whether this is a product or a service. */
  type: ItemType;
  /** What is offered, as the customer sees it. */
  name: string;
  /** Further description. */
  description: string | null;
  /** SKU at the time of the offer. */
  sku: string | null;
  /** Quantity, with up to 4 decimals. */
  quantity: string;
  /** The unit that the price is for. */
  unit: string | null;
  /** Price of one unit; negative for a credit. */
  unitPrice: string;
  /** Discount on the line, in `currency`, with exactly as many decimals as the currency has. */
  discountAmount: string;
  /** Tax rate in percent; `null` means 0. */
  taxRate: string | null;
  /** quantity × unitPrice, rounded, in `currency`, with exactly as many decimals as the currency has. */
  subtotal: string;
  /**
   * (subtotal − discountAmount) × taxRate / 100, rounded, in `currency`, with exactly as many decimals as the currency
   * has.
   */
  taxAmount: string;
  /** subtotal − discountAmount + taxAmount, in `currency`, with exactly as many decimals as the currency has. */
  total: string;
  /** Whether the customer may decline this line. */
  optional: boolean;
  /** Whether this line counts toward the totals. */
  selected: boolean;
};

/** Parameters of `/v1/proposals`. */
export type ProposalListQuery = {
  /** The number of records on a page. From 1 to 100. Default: `25`. */
  limit?: number | undefined;
  /**
   * Where the page starts: `pagination.nextCursor` of the previous page. It carries the sort and filters. You may repeat
   * or omit them, but not change them.
   */
  cursor?: string | undefined;
  /** The order; `-` means descending. Ties are broken by id. Default: `-createdAt`. */
  sort?: 'createdAt' | '-createdAt' | 'updatedAt' | '-updatedAt' | 'statusChangedAt' | '-statusChangedAt' | undefined;
  /**
   * Only records whose `createdAt` is at or after this time. RFC 3339 with a time zone; a date alone means 00:00 UTC.
   */
  createdSince?: string | Date | undefined;
  /** Only records whose `createdAt` is before this time. RFC 3339 with a time zone; a date alone means 00:00 UTC. */
  createdBefore?: string | Date | undefined;
  /**
   * Only records whose `updatedAt` is at or after this time. RFC 3339 with a time zone; a date alone means 00:00 UTC.
   */
  updatedSince?: string | Date | undefined;
  /** Only records whose `updatedAt` is before this time. RFC 3339 with a time zone; a date alone means 00:00 UTC. */
  updatedBefore?: string | Date | undefined;
  /**
   * Search in number, title and the name of the customer. Every word must be found in one of these fields; case, accents
   * and punctuation are ignored. Up to 8 words.
   */
  q?: string | undefined;
  /** Only the proposals with these ids; ids that do not exist are left out. */
  ids?: string | readonly string[] | undefined;
  /** Only the record with exactly this externalId. */
  externalId?: string | undefined;
  /** Only records with these metadata values; up to 5, all of which must match. */
  metadata?: Record<string, string> | undefined;
  /** Only proposals with one of these statuses. */
  status?: 'draft' | 'sent' | 'viewed' | 'accepted' | 'declined' | 'expired' | 'canceled' | readonly ('draft' | 'sent' | 'viewed' | 'accepted' | 'declined' | 'expired' | 'canceled')[] | undefined;
  /** Only proposals for this customer. */
  customerId?: string | undefined;
  /** Only the proposal with exactly this number. */
  number?: string | undefined;
  /** Only proposals in this currency: an ISO 4217 code, in either case. */
  currency?: string | undefined;
  /**
   * Only records whose `expiresAt` is at or after this time. RFC 3339 with a time zone; a date alone means 00:00 UTC.
   */
  expiresSince?: string | Date | undefined;
  /** Only records whose `expiresAt` is before this time. RFC 3339 with a time zone; a date alone means 00:00 UTC. */
  expiresBefore?: string | Date | undefined;
  /**
   * Only records whose `acceptedAt` is at or after this time. RFC 3339 with a time zone; a date alone means 00:00 UTC.
   */
  acceptedSince?: string | Date | undefined;
  /** Only records whose `acceptedAt` is before this time. RFC 3339 with a time zone; a date alone means 00:00 UTC. */
  acceptedBefore?: string | Date | undefined;
  /**
   * Only records whose `statusChangedAt` is at or after this time. RFC 3339 with a time zone; a date alone means 00:00
   * UTC.
   */
  statusChangedSince?: string | Date | undefined;
  /**
   * Only records whose `statusChangedAt` is before this time. RFC 3339 with a time zone; a date alone means 00:00 UTC.
   */
  statusChangedBefore?: string | Date | undefined;
  /** What else to return with each proposal: `lineItems` adds its lines, `customer` every field of its customer. */
  include?: 'lineItems' | 'customer' | readonly ('lineItems' | 'customer')[] | undefined;
};

/** An offer to a customer, with its lines. */
export type Proposal = {
  /** Unique id; it never changes. */
  id: string;
  /** Human-readable number of the proposal; unique within the organization. */
  number: string;
  /** Title. */
  title: string;
  /**
   * The status of the proposal. The organization’s application changes it, never this API: a proposal whose `expiresAt`
   * has passed keeps its status until the application sets it to `expired`. `statusChangedAt` is the time of the last
   * change; `sentAt`, `acceptedAt` and the other times say when each status was first reached. An accepted proposal can
   * be canceled, or sent and accepted again: `acceptedAt` is then still the first acceptance, and `status` is the
   * current state. New values may be added.
   */
  status: ProposalStatus;
  /** When the status last changed. */
  statusChangedAt: string;
  /** The id of the customer; `null` on a draft or canceled proposal without one. */
  customerId: string | null;
  /** The customer, with its current details. */
  customer: CustomerSummary | null;
  /** ISO 4217 currency code, in upper case. */
  currency: string;
  /** Sum of the subtotals of all selected lines, in `currency`, with exactly as many decimals as the currency has. */
  subtotal: string;
  /** Sum of the discounts of all selected lines, in `currency`, with exactly as many decimals as the currency has. */
  discountTotal: string;
  /** Sum of the taxes of all selected lines, in `currency`, with exactly as many decimals as the currency has. */
  taxTotal: string;
  /** subtotal − discountTotal + taxTotal, in `currency`, with exactly as many decimals as the currency has. */
  total: string;
  /** The lines, in order of position. */
  lineItems: LineItem[];
  /** The number of lines. */
  lineItemCount: number;
  /** Notes that the customer sees. */
  notes: string | null;
  /** Terms that the customer sees. */
  terms: string | null;
  /** When the proposal was first sent; `null` if not yet, or if unknown. */
  sentAt: string | null;
  /** When the proposal was first viewed by the customer; `null` if not yet, or if unknown. */
  viewedAt: string | null;
  /** When the proposal was first accepted; `null` if not yet, or if unknown. */
  acceptedAt: string | null;
  /** When the proposal was first declined; `null` if not yet, or if unknown. */
  declinedAt: string | null;
  /** When the proposal first expired; `null` if not yet, or if unknown. */
  expiredAt: string | null;
  /** When the proposal was first canceled; `null` if not yet, or if unknown. */
  canceledAt: string | null;
  /** The person who accepted the proposal. */
  acceptedBy: {
    /** Name. */
    name: string;
    /** Email address. */
    email: string | null;
  } | null;
  /** Why the customer declined. */
  declineReason: string | null;
  /** When the offer expires. */
  expiresAt: string | null;
  /** The URL at which the customer sees the proposal. */
  publicUrl: string | null;
  /** The person in the organization who is responsible for the proposal. */
  owner: {
    /** Name. */
    name: string;
    /** Email address. */
    email: string | null;
  } | null;
  /** The id of this record in your own system; unique per resource, case-sensitive. */
  externalId: string | null;
  /**
   * Your own key-value pairs: up to 50 keys (1 to 40 characters from A–Z a–z 0–9 _ . -), each with a string of up to 500
   * characters.
   */
  metadata: Record<string, string>;
  /** When the record was created. */
  createdAt: string;
  /** When the record last changed. */
  updatedAt: string;
  /**
   * Identifies this version of the proposal and its customer, as returned here: it also changes when the customer does,
   * although `updatedAt` does not. Send it as `If-None-Match` to fetch the proposal only if it has changed.
   */
  etag: string;
};

/** The customer, with its current details. */
export type CustomerSummary = {
  /** Unique id; it never changes. */
  id: string;
  /** Display name. */
  name: string;
  /** Company name. */
  companyName: string | null;
  /** Email address. */
  email: string | null;
  /** Phone number. */
  phone: string | null;
  /**
   * When the personal data of this customer was erased on request; `null` if it was not. Erase your copies, too; an
   * erased customer can no longer be changed.
   */
  erasedAt: string | null;
};

/** Options of `GET /v1/proposals/{proposalId}`. */
export type GetProposalOptions = CallOptions & {
  /** Returns the record only if its current `etag` is not this one. If it is, the method returns `null`. */
  ifNoneMatch?: string | undefined;
};

/** A page of items. */
export type ItemList = {
  /** The records of this page, in the requested order. */
  data: Item[];
  /** How to get the next page. */
  pagination: Pagination;
  /**
   * On lists sorted by `updatedAt`: when `hasMore` is false, use this value as the next `updatedSince` so that you miss
   * no changes. `null` on other lists.
   */
  syncedThrough: string | null;
};

/** New values may be added. */
export type ItemStatus = 'active' | 'archived' | (string & {});

/** A product or service in the catalog. */
export type Item = {
  /** Unique id; it never changes. */
  id: string;
  /** Whether this is a product or a service. */
  type: ItemType;
  /** Name, as shown on proposals. */
  name: string;
  /** Description for the customer. */
  description: string | null;
  /** Stock keeping unit; unique within the organization, ignoring case. */
  sku: string | null;
  /** Price of one unit in `currency`, with at least as many decimals as the currency has, and up to 4. */
  unitPrice: string;
  /** ISO 4217 currency code, in upper case. */
  currency: string;
  /** The unit that the price is for, such as `hour`, `each` or `kg`. */
  unit: string | null;
  /** Whether the item is taxable. */
  taxable: boolean;
  /** Tax rate in percent. */
  taxRate: string | null;
  /** Catalog category, such as a product group. */
  category: string | null;
  /** URL of a picture, starting with `https://`. */
  imageUrl: string | null;
  /** The id of this record in your own system; unique per resource, case-sensitive. */
  externalId: string | null;
  /**
   * Your own key-value pairs: up to 50 keys (1 to 40 characters from A–Z a–z 0–9 _ . -), each with a string of up to 500
   * characters.
   */
  metadata: Record<string, string>;
  /** `archived` items are no longer offered. */
  status: ItemStatus;
  /** When the record was created. */
  createdAt: string;
  /** When the record last changed. */
  updatedAt: string;
  /** Identifies this version of the item. Send it as `If-None-Match` to fetch the item only if it has changed. */
  etag: string;
};

/** Parameters of `/v1/items`. */
export type ItemListQuery = {
  /** The number of records on a page. From 1 to 100. Default: `25`. */
  limit?: number | undefined;
  /**
   * Where the page starts: `pagination.nextCursor` of the previous page. It carries the sort and filters. You may repeat
   * or omit them, but not change them.
   */
  cursor?: string | undefined;
  /** The order; `-` means descending. Ties are broken by id. Default: `-createdAt`. */
  sort?: 'createdAt' | '-createdAt' | 'updatedAt' | '-updatedAt' | 'name' | '-name' | undefined;
  /**
   * Only records whose `createdAt` is at or after this time. RFC 3339 with a time zone; a date alone means 00:00 UTC.
   */
  createdSince?: string | Date | undefined;
  /** Only records whose `createdAt` is before this time. RFC 3339 with a time zone; a date alone means 00:00 UTC. */
  createdBefore?: string | Date | undefined;
  /**
   * Only records whose `updatedAt` is at or after this time. RFC 3339 with a time zone; a date alone means 00:00 UTC.
   */
  updatedSince?: string | Date | undefined;
  /** Only records whose `updatedAt` is before this time. RFC 3339 with a time zone; a date alone means 00:00 UTC. */
  updatedBefore?: string | Date | undefined;
  /**
   * Search in name, sku and description. Every word must be found in one of these fields; case, accents and punctuation
   * are ignored. Up to 8 words.
   */
  q?: string | undefined;
  /** Only the items with these ids; ids that do not exist are left out. */
  ids?: string | readonly string[] | undefined;
  /** Only the record with exactly this externalId. */
  externalId?: string | undefined;
  /** Only records with these metadata values; up to 5, all of which must match. */
  metadata?: Record<string, string> | undefined;
  /** Only items of this type. */
  type?: 'product' | 'service' | undefined;
  /** Only the item with exactly this SKU, ignoring case. */
  sku?: string | undefined;
  /** Only items in exactly this category. */
  category?: string | undefined;
  /** Only items with this status; `all` includes archived ones. Default: `all`. */
  status?: 'active' | 'archived' | 'all' | undefined;
};

/** Options of `GET /v1/items/{itemId}`. */
export type GetItemOptions = CallOptions & {
  /** Returns the record only if its current `etag` is not this one. If it is, the method returns `null`. */
  ifNoneMatch?: string | undefined;
};

/** Options of `POST /v1/items`. */
export type CreateItemOptions = CallOptions & {
  /**
   * What to do if another item already has this externalId: `error` fails with `external_id_taken`, `return` returns
   * that item unchanged. `return` needs an externalId in the body. Default: `error`.
   */
  onConflict?: 'error' | 'return' | undefined;
  /**
   * Makes retries safe: within 24 hours, a repeated request with the same key and body returns the original response,
   * and no second record is created. Use a new value, such as a UUID, for each record. Default: a new UUID for each
   * call, kept across its retries. Pass your own to be safe across restarts.
   */
  idempotencyKey?: string | undefined;
};

/** A new catalog item, with status `active`. An empty string in an optional field counts as absent. */
export type ItemCreate = {
  /** Whether this is a product or a service. */
  type: 'product' | 'service';
  /** Name, as shown on proposals. */
  name: string;
  /** Description for the customer. */
  description?: string | null | undefined;
  /** Stock keeping unit; unique within the organization, ignoring case. */
  sku?: string | null | undefined;
  /** Price of one unit. From 0 to 999999999.9999, up to 4 decimals; a JSON number is accepted too. */
  unitPrice: string | number;
  /** ISO 4217 currency code; lower case is accepted and stored in upper case. Default: the organization’s currency. */
  currency?: string | undefined;
  /** The unit that the price is for, such as `hour`, `each` or `kg`. */
  unit?: string | null | undefined;
  /** Whether the item is taxable. Default: `true`. */
  taxable?: boolean | undefined;
  /** Tax rate in percent. From 0 to 100, up to 4 decimals; a JSON number is accepted too. */
  taxRate?: string | number | null | undefined;
  /** Catalog category, such as a product group. */
  category?: string | null | undefined;
  /** URL of a picture, starting with `https://`. */
  imageUrl?: string | null | undefined;
  /** The id of this record in your own system; unique per resource, case-sensitive. */
  externalId?: string | null | undefined;
  /**
   * Your own key-value pairs: up to 50 keys (1 to 40 characters from A–Z a–z 0–9 _ . -), each with a string of up to 500
   * characters. Numbers and booleans are accepted too, and become strings. `null` removes a key, or all of them.
   */
  metadata?: Record<string, string | null | number | boolean> | null | undefined;
};

/** A failure, as RFC 9457 `application/problem+json`. */
export type Problem = {
  /** A URL that identifies the kind of problem, and explains it. */
  type: string;
  /** The kind of problem, for people. */
  title: string;
  /** The HTTP status. */
  status: number;
  /** What went wrong in this request, and what to do. */
  detail: string;
  /** The kind of problem, for programs. */
  code: string;
  /** The value of `X-Request-Id`, to give to support. */
  requestId: string;
  /** Everything that is wrong, each with its location; `[]` if there is nothing to point to. */
  errors: ProblemError[];
  /**
   * With `external_id_taken`, `sku_taken` and `external_id_erased`: the id of the record that has the value, or had it.
   */
  existingId?: string | undefined;
  /** With `precondition_failed`: the current ETag of the record. */
  currentEtag?: string | undefined;
};

/** One thing that is wrong with a request. */
export type ProblemError = {
  /** The part of the request that has the value. */
  in: 'body' | 'query' | 'path' | 'header' | (string & {});
  /** The field, parameter or header; dots separate nested names. */
  field: string;
  /** JSON Pointer (RFC 6901) into the body; `null` for other parts of the request. */
  pointer: string | null;
  /**
   * What is wrong, for programs. For an invalid field of a body, it is one of `required`, `invalid_type`, `too_short`,
   * `too_long`, `invalid_email`, `invalid_url`, `invalid_country`, `invalid_currency`, `invalid_decimal`,
   * `too_many_decimals`, `out_of_range`, `invalid_enum`, `unknown_field`, `read_only_field`, `invalid_characters`,
   * `too_many_items`, `duplicate_item`; otherwise the code of a problem, such as `unknown_parameter`.
   */
  code: string;
  /** Human-readable message, phrased to follow the field name. */
  message: string;
  /** The nearest valid name or value, if there is one. */
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
  | 'api_key_expired'
  | 'plan_required'
  | 'route_not_found'
  | 'not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'external_id_taken'
  | 'sku_taken'
  | 'customer_erased'
  | 'external_id_erased'
  | 'idempotency_in_progress'
  | 'precondition_failed'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'validation_failed'
  | 'idempotency_key_reused'
  | 'rate_limited'
  | 'headers_too_large'
  | 'internal_error'
  | 'unsupported_transfer_encoding'
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

/** A customer was created. */
export type CustomerCreatedEvent = {
  /** What happened. */
  type: 'customer.created';
  /** When it happened. */
  timestamp: string;
  /** A person or company that the organization sells to. */
  data: Customer;
};

/** A customer was updated. */
export type CustomerUpdatedEvent = {
  /** What happened. */
  type: 'customer.updated';
  /** When it happened. */
  timestamp: string;
  /** A person or company that the organization sells to. */
  data: Customer;
};

/** A catalog item was created. */
export type ItemCreatedEvent = {
  /** What happened. */
  type: 'item.created';
  /** When it happened. */
  timestamp: string;
  /** A product or service in the catalog. */
  data: Item;
};

/** A catalog item was updated. */
export type ItemUpdatedEvent = {
  /** What happened. */
  type: 'item.updated';
  /** When it happened. */
  timestamp: string;
  /** A product or service in the catalog. */
  data: Item;
};

/** A proposal was created. */
export type ProposalCreatedEvent = {
  /** What happened. */
  type: 'proposal.created';
  /** When it happened. */
  timestamp: string;
  /** An offer to a customer, with its lines. */
  data: Proposal;
};

/** A proposal was updated. */
export type ProposalUpdatedEvent = {
  /** What happened. */
  type: 'proposal.updated';
  /** When it happened. */
  timestamp: string;
  /** An offer to a customer, with its lines. */
  data: Proposal;
};

/** A proposal was sent for the first time. */
export type ProposalSentEvent = {
  /** What happened. */
  type: 'proposal.sent';
  /** When it happened. */
  timestamp: string;
  /** An offer to a customer, with its lines. */
  data: Proposal;
};

/** A proposal was viewed by its customer for the first time. */
export type ProposalViewedEvent = {
  /** What happened. */
  type: 'proposal.viewed';
  /** When it happened. */
  timestamp: string;
  /** An offer to a customer, with its lines. */
  data: Proposal;
};

/** A proposal was accepted for the first time. */
export type ProposalAcceptedEvent = {
  /** What happened. */
  type: 'proposal.accepted';
  /** When it happened. */
  timestamp: string;
  /** An offer to a customer, with its lines. */
  data: Proposal;
};

/** A proposal was declined for the first time. */
export type ProposalDeclinedEvent = {
  /** What happened. */
  type: 'proposal.declined';
  /** When it happened. */
  timestamp: string;
  /** An offer to a customer, with its lines. */
  data: Proposal;
};

/** A proposal expired for the first time. */
export type ProposalExpiredEvent = {
  /** What happened. */
  type: 'proposal.expired';
  /** When it happened. */
  timestamp: string;
  /** An offer to a customer, with its lines. */
  data: Proposal;
};

/** A proposal was canceled for the first time. */
export type ProposalCanceledEvent = {
  /** What happened. */
  type: 'proposal.canceled';
  /** When it happened. */
  timestamp: string;
  /** An offer to a customer, with its lines. */
  data: Proposal;
};

/** An import ended. */
export type ImportCompletedEvent = {
  /** What happened. */
  type: 'import.completed';
  /** When it happened. */
  timestamp: string;
  /** What an import did. */
  data: ImportSummary;
};

/** What an import did. */
export type ImportSummary = {
  /** What was imported. */
  resource: 'customers' | 'items' | 'proposals' | (string & {});
  /** `completed`, or `interrupted` if the import was stopped early: the records that it had stored by then are kept. */
  status: 'completed' | 'interrupted' | (string & {});
  /** How many records were created. */
  created: number;
  /** How many records were updated. */
  updated: number;
  /** How many rows were identical to the stored record. */
  unchanged: number;
  /** How many rows were invalid and skipped. */
  rejected: number;
  /** When the import started: pass it to a list as `updatedSince` to read what it stored. */
  startedAt: string;
  /** When the import ended. */
  endedAt: string;
};

/** A test of the endpoint. */
export type EndpointTestEvent = {
  /** What happened. */
  type: 'endpoint.test';
  /** When it happened. */
  timestamp: string;
  /** What a test sends instead of a record. */
  data: EndpointTest;
};

/** What a test sends instead of a record. */
export type EndpointTest = {
  /** The endpoint that was tested. */
  endpointId: string;
  /** A human-readable message. */
  message: string;
};

/** The body of a webhook request. */
export type WebhookEvent =
  | CustomerCreatedEvent
  | CustomerUpdatedEvent
  | ItemCreatedEvent
  | ItemUpdatedEvent
  | ProposalCreatedEvent
  | ProposalUpdatedEvent
  | ProposalSentEvent
  | ProposalViewedEvent
  | ProposalAcceptedEvent
  | ProposalDeclinedEvent
  | ProposalExpiredEvent
  | ProposalCanceledEvent
  | ImportCompletedEvent
  | EndpointTestEvent;

/** The calling organization and key. */
export type MeApi = {
  /**
   * Returns the organization that the key belongs to, its plan, and how much of the rate limit is left. Use it to test a
   * connection.
   */
  get: Method<[options?: CallOptions], Me>;
};

/** The people and companies that the organization sells to. */
export type CustomersApi = {
  /**
   * Returns a page of the organization’s customers, newest first by default. `q` searches name, firstName, lastName,
   * companyName, email, phone (by its digits), city, postalCode, country (by its name or code) and externalId.
   */
  list: ListMethod<CustomerListQuery, CustomerList>;
  /** Every record that changed since `since`, oldest change first; see {@link Sync}. */
  sync: SyncMethod<CustomerListQuery, CustomerList>;
  /**
   * Returns one customer by id.
   *
   * Throws `not_found`.
   */
  get: ConditionalMethod<[customerId: string], GetCustomerOptions, Customer>;
  /**
   * Creates a customer and returns the stored record. With an `externalId` and `onConflict`, it creates or updates.
   *
   * Throws `external_id_taken`, `customer_erased`, `external_id_erased`, `idempotency_in_progress`,
   * `precondition_failed`, `payload_too_large`, `unsupported_media_type`, `validation_failed`, `idempotency_key_reused`.
   */
  create: Method<[body: CustomerCreate, options?: CreateCustomerOptions], Customer>;
  /**
   * Changes the fields you send. Absent fields keep their values, `null` clears a field, objects are merged, and arrays
   * are replaced. An update that changes nothing leaves `updatedAt` and the ETag as they are.
   *
   * Throws `not_found`, `external_id_taken`, `customer_erased`, `external_id_erased`, `precondition_failed`,
   * `payload_too_large`, `unsupported_media_type`, `validation_failed`.
   */
  update: Method<[customerId: string, body: CustomerUpdate | Customer, options?: UpdateCustomerOptions], Customer>;
};

/** Offers to customers, with line items. Read-only. */
export type ProposalsApi = {
  /**
   * Returns a page of the organization’s proposals, newest first by default. `q` searches number, title and the name of
   * the customer.
   */
  list: ListMethod<ProposalListQuery, ProposalList>;
  /** Every record that changed since `since`, oldest change first; see {@link Sync}. */
  sync: SyncMethod<ProposalListQuery, ProposalList>;
  /**
   * Returns one proposal by id, with its lines.
   *
   * Throws `not_found`.
   */
  get: ConditionalMethod<[proposalId: string], GetProposalOptions, Proposal>;
};

/** The catalog of products and services that proposals are built from. */
export type ItemsApi = {
  /** Returns a page of the catalog, newest first by default. `q` searches name, sku and description. */
  list: ListMethod<ItemListQuery, ItemList>;
  /** Every record that changed since `since`, oldest change first; see {@link Sync}. */
  sync: SyncMethod<ItemListQuery, ItemList>;
  /**
   * Returns one catalog item by id.
   *
   * Throws `not_found`.
   */
  get: ConditionalMethod<[itemId: string], GetItemOptions, Item>;
  /**
   * Adds an item to the catalog and returns the stored record.
   *
   * Throws `external_id_taken`, `sku_taken`, `idempotency_in_progress`, `payload_too_large`, `unsupported_media_type`,
   * `validation_failed`, `idempotency_key_reused`.
   */
  create: Method<[body: ItemCreate, options?: CreateItemOptions], Item>;
};

/** The API of one organization, called with one of its keys. */
export type Client = {
  /** The calling organization and key. */
  me: MeApi;
  /** The people and companies that the organization sells to. */
  customers: CustomersApi;
  /** Offers to customers, with line items. Read-only. */
  proposals: ProposalsApi;
  /** The catalog of products and services that proposals are built from. */
  items: ItemsApi;
};

/** @internal The method, path and request headers of each operation. */
export const operations = {
  me: {
    get: { method: 'GET', path: '/v1/me' },
  },
  customers: {
    list: { method: 'GET', path: '/v1/customers', largestPage: 100 },
    get: { method: 'GET', path: '/v1/customers/:customerId', headers: ['if-none-match'] },
    create: { method: 'POST', path: '/v1/customers', body: true, headers: ['idempotency-key', 'if-match'] },
    update: { method: 'PATCH', path: '/v1/customers/:customerId', body: true, headers: ['if-match'] },
  },
  proposals: {
    list: { method: 'GET', path: '/v1/proposals', largestPage: 100 },
    get: { method: 'GET', path: '/v1/proposals/:proposalId', headers: ['if-none-match'] },
  },
  items: {
    list: { method: 'GET', path: '/v1/items', largestPage: 100 },
    get: { method: 'GET', path: '/v1/items/:itemId', headers: ['if-none-match'] },
    create: { method: 'POST', path: '/v1/items', body: true, headers: ['idempotency-key'] },
  },
} as const;

/** @internal The version of this package. */
export const version = '1.0.0';
