/** Customers: their stored values, how requests and imported rows change them, what is shown, and what erasure keeps. */
import { customerStatuses } from '../../contract/customers.ts';
import type { Customer as CustomerBody, CustomerCreate, CustomerUpdate } from '../../contract/customers.ts';
import { uriOrNull } from '../../contract/uri.ts';
import { addressParts, Customer, customerSources } from '../entities/customer.ts';
import type { StoredAddress } from '../entities/customer.ts';
import type { ProblemError } from '../../contract/problem.ts';
import { Problem, requireNone } from '../problems/problem.ts';
import { erasedExternalIds } from './erased-external-ids.ts';
import { alwaysKept, erased, erasedName, erasureOf, kept } from './erasure.ts';
import { etagOf } from './etag.ts';
import { markOf } from './list-index.ts';
import type { ListIndex } from './list-index.ts';
import { changedReadOnly, exactFields, mergePatch, withoutUndefined } from './merge-patch.ts';
import { excessKeys, mergeMetadata, presentMetadata } from './metadata.ts';
import { publicId } from './public-id.ts';
import { hasFewProposals, renameInAllProposals, renameInProposals } from './rename-in-proposals.ts';
import { select, storedProperties } from './selection.ts';
import { changedTags, excessTags } from './tags.ts';
import type { Table } from './writer.ts';

/** Only for conditions and orders: no response needs them. */
const derived = [
  'organizationId',
  'nameSearch',
  'emailKey',
  'phoneKey',
  'search',
  'tokens',
  'transactionStart',
] as const;
export const customerProperties = storedProperties(Customer, derived);
export type CustomerRow = Pick<Customer, (typeof customerProperties)[number]>;

export const customerIndex: ListIndex<Customer> = {
  marks: { status: markOf('status'), country: (column) => `(${column('address')} ->> 'country')` },
  leading: { property: 'status', values: customerStatuses },
};

export const customerTable: Table<Customer, CustomerRow> = {
  entity: Customer,
  selection: select(Customer, customerProperties),
  refusedValues: { property: 'externalId', ...erasedExternalIds },
  derivedFrom: customerSources,
  alongside: {
    property: 'name',
    isFew: hasFewProposals,
    statement: renameInProposals,
    change: (scope, { id, nameSearch }) => renameInAllProposals(scope, String(id), nameSearch),
  },
};

/** What a caller may set. */
type Values = Omit<CustomerRow, ReadOnly | 'nameKey' | 'revision'>;
type ReadOnly = 'id' | 'erasedAt' | 'createdAt' | 'updatedAt';
type Input = Omit<CustomerCreate, 'metadata'> & Pick<CustomerUpdate, 'metadata'>;

/** The values of a new customer; absent ones are left to the entity's defaults. */
export function newCustomer({ address, shippingAddress, tags = [], metadata, ...fields }: Input) {
  const values = exactFields<Partial<Values>>()({
    ...withoutUndefined(fields),
    type: fields.type ?? defaultType(fields),
    name: displayName(fields),
    address: wholeAddress(address),
    shippingAddress: wholeAddress(shippingAddress),
    tags: changedTags([], tags),
    metadata: mergeMetadata({}, metadata),
  });
  requireNone(excessKeys(values.metadata));
  return values;
}

/**
 * The values that a merge patch gives a stored customer; it cannot contain fields that only the server sets. Problem:
 * validation_failed, with `errors` and those that only the stored record shows.
 */
export function patchedCustomer(
  customer: Pick<CustomerRow, 'address' | 'shippingAddress' | 'tags' | 'metadata'>,
  { address, shippingAddress, tags, metadata, ...fields }: Omit<CustomerUpdate, ReadOnly | 'etag'>,
  errors: readonly ProblemError[] = [],
) {
  const values = exactFields<Partial<Values>>()({
    ...withoutUndefined(fields),
    ...(address !== undefined && { address: patchedAddress(customer.address, address) }),
    ...(shippingAddress !== undefined && {
      shippingAddress: patchedAddress(customer.shippingAddress, shippingAddress),
    }),
    ...(tags !== undefined && { tags: changedTags(customer.tags, tags) }),
    ...(metadata !== undefined && { metadata: mergeMetadata(customer.metadata, metadata) }),
  });
  requireNone([...errors, ...excessTags(values.tags), ...excessKeys(values.metadata)]);
  return values;
}

/** The changes that an update makes to a stored customer. Problems: validation_failed, customer_erased. */
export function updatedCustomer(customer: CustomerRow, update: CustomerUpdate): Partial<CustomerRow> {
  const { id, erasedAt, createdAt, updatedAt, etag, ...patch } = update;
  const readOnly = changedReadOnly({ id, erasedAt, createdAt, updatedAt, etag }, () => presentCustomer(customer));
  const values = patchedCustomer(customer, patch, readOnly);
  if (customer.erasedAt !== null) throw new Problem('customer_erased');
  return values;
}

export function presentCustomer(customer: CustomerRow): CustomerBody {
  return {
    id: publicId('customer', customer.id),
    type: customer.type,
    name: customer.name,
    firstName: customer.firstName,
    lastName: customer.lastName,
    companyName: customer.companyName,
    email: customer.email,
    phone: customer.phone,
    address: wholeAddress(customer.address),
    shippingAddress: wholeAddress(customer.shippingAddress),
    taxId: customer.taxId,
    website: uriOrNull(customer.website),
    notes: customer.notes,
    tags: customer.tags,
    externalId: customer.externalId,
    metadata: presentMetadata(customer.metadata),
    status: customer.status,
    erasedAt: customer.erasedAt,
    createdAt: customer.createdAt,
    updatedAt: customer.updatedAt,
    etag: etagOf(customer),
  };
}

function patchedAddress(present: StoredAddress | null, patch: CustomerUpdate['address']): StoredAddress | null {
  return patch ? wholeAddress(mergePatch<StoredAddress>(present, patch)) : null;
}

/** An address with all of its parts, in the contract's order; null if all of them are empty. */
function wholeAddress(input: Partial<StoredAddress> | null | undefined): StoredAddress | null {
  if (!input) return null;
  const { line1 = null, line2 = null, city = null, region = null, postalCode = null, country = null } = input;
  const whole = { line1, line2, city, region, postalCode, country };
  return addressParts.every((part) => whole[part] === null) ? null : whole;
}

type Named = Partial<Record<'name' | 'companyName' | 'firstName' | 'lastName' | 'email' | 'phone', string | null>>;

const longestName = 200;

/** The default name of a customer; the contract requires one of these fields. */
function displayName({ name, companyName, firstName, lastName, email, phone }: Named): string {
  const person = [firstName, lastName].filter(Boolean).join(' ');
  const chosen = name ?? companyName ?? (person || (email ?? phone ?? ''));
  return chosen.length <= longestName ? chosen : [...chosen].slice(0, longestName).join('').trimEnd();
}

function defaultType({ companyName, firstName, lastName }: Named): Customer['type'] {
  return companyName && !firstName && !lastName ? 'company' : 'person';
}

/** The externalId is erased as well: in files from other tools, it is often a name. */
export const customerErasure = erasureOf<Customer>()({
  ...alwaysKept,
  ...kept('type', 'revision', 'updatedAt'),
  // Set separately, to the time of the erasure.
  ...kept('erasedAt'),
  ...erased('firstName', 'lastName', 'companyName', 'email', 'phone', 'address', 'shippingAddress', 'taxId'),
  ...erased('website', 'notes', 'externalId'),
  name: () => erasedName,
  tags: () => [],
  metadata: () => ({}),
  status: () => 'archived',
});
