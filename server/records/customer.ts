/** Customers: from a body of the API or a row of an import to the stored values. */
import type { CustomerCreate, CustomerUpdate } from '../../contract/customers.ts';
import { addressParts, Customer } from '../entities/customer.ts';
import type { StoredAddress } from '../entities/customer.ts';
import { exactly } from './exact.ts';
import { mergePatch, withoutUndefined } from './merge-patch.ts';
import { mergeMetadata } from './metadata.ts';
import { select, storedProperties, versioned } from './selection.ts';
import type { Table } from './writer.ts';

/** Kept for conditions and orders: no response needs them. */
const stored = storedProperties<
  Customer,
  'organizationId' | 'nameSearch' | 'emailKey' | 'phoneKey' | 'search' | 'tokens' | 'transactionStart'
>(Customer, ['organizationId', 'nameSearch', 'emailKey', 'phoneKey', 'search', 'tokens', 'transactionStart']);
export const customerSelection = select(Customer, stored);
export type CustomerRow = Pick<Customer, (typeof stored)[number]>;

/** Proposals are found by their customer's name, which is part of their search text. */
export const renameInProposals = `update proposals p
  set search = left(p.search, length(p.search) - length(coalesce(p.customer_key, ''))) || changed.name_search, customer_key = changed.name_search
  from changed where p.organization_id = $1 and p.customer_id = changed.id`;
export const customerTable: Table<Customer, CustomerRow> = {
  entity: Customer,
  selection: versioned(customerSelection),
  alongside: { property: 'name', statement: renameInProposals },
};

/** What a caller may set. */
type Values = Omit<CustomerRow, 'id' | 'nameKey' | 'createdAt' | 'updatedAt'>;
type Input = Omit<CustomerCreate, 'metadata'> & Pick<CustomerUpdate, 'metadata'>;

/** The values of a new customer; what is absent is left to the entity's own defaults. */
export function newCustomer({ address, shippingAddress, metadata, ...fields }: Input) {
  return exactly<Partial<Values>>()({
    ...withoutUndefined(fields),
    type: fields.type ?? defaultType(fields),
    name: displayName(fields),
    address: wholeAddress(address),
    shippingAddress: wholeAddress(shippingAddress),
    metadata: mergeMetadata({}, metadata),
  });
}

/** The values that a merge patch gives a stored customer; fields that only the server sets are no part of it. */
export function patchedCustomer(
  customer: Pick<CustomerRow, 'address' | 'shippingAddress' | 'metadata'>,
  { address, shippingAddress, metadata, ...fields }: Omit<CustomerUpdate, 'id' | 'createdAt' | 'updatedAt'>,
) {
  return exactly<Partial<Values>>()({
    ...withoutUndefined(fields),
    ...(address !== undefined && { address: patchedAddress(customer.address, address) }),
    ...(shippingAddress !== undefined && {
      shippingAddress: patchedAddress(customer.shippingAddress, shippingAddress),
    }),
    ...(metadata !== undefined && { metadata: mergeMetadata(customer.metadata, metadata) }),
  });
}

function patchedAddress(present: StoredAddress | null, patch: CustomerUpdate['address']): StoredAddress | null {
  return patch ? wholeAddress(mergePatch<StoredAddress>(present, patch)) : null;
}

/** An address with all of its parts, in the contract's order; one without a value in it is null. */
export function wholeAddress(input: Partial<StoredAddress> | null | undefined): StoredAddress | null {
  const part = (name: keyof StoredAddress) => input?.[name] ?? null;
  if (addressParts.every((name) => part(name) === null)) return null;
  return {
    line1: part('line1'),
    line2: part('line2'),
    city: part('city'),
    region: part('region'),
    postalCode: part('postalCode'),
    country: part('country'),
  };
}

type Named = Partial<Record<'name' | 'companyName' | 'firstName' | 'lastName' | 'email' | 'phone', string | null>>;

const longestName = 200;

/** The default name of a customer; the contract requires one of these fields. */
export function displayName({ name, companyName, firstName, lastName, email, phone }: Named): string {
  const person = [firstName, lastName].filter(Boolean).join(' ');
  const chosen = name ?? companyName ?? (person || (email ?? phone ?? ''));
  return [...chosen].slice(0, longestName).join('');
}

export function defaultType({ companyName, firstName, lastName }: Named): Customer['type'] {
  return companyName && !firstName && !lastName ? 'company' : 'person';
}
