import { customer, missingName } from '../../contract/customers.ts';
import { customerImport } from './schemas.ts';
import type { CustomerImport } from './schemas.ts';
import { defaultType, displayName, wholeAddress as storedAddress } from '../records/customer.ts';
import type { Customer, StoredAddress } from '../entities/customer.ts';
import { columnsOf } from './columns.ts';
import type { Kind, Rejection, Wanted } from './kind.ts';
import { given, mergeMetadata, rejectMetadata } from './merge.ts';

export const customers: Kind<CustomerImport, Customer> = {
  name: 'customers',
  id: 'customer',
  schema: customerImport,
  record: customer,
  columns: columnsOf(customerImport),
  tableOf: (store) => store.customers,
  isFlat: true,
  weigh: () => 1,
  planner: async () => (row, stored) => (stored ? change(row, stored) : create(row)),
};

function create(row: CustomerImport): Wanted | Rejection[] {
  const missing = missingName(row);
  if (missing) return [{ field: missing.field, code: missing.code, message: missing.message }];
  const values = merge(row);
  const rejections = rejectMetadata(values.metadata);
  if (rejections.length > 0) return rejections;
  return { values: { ...values, type: row.type ?? defaultType(row), name: displayName(row) } };
}

function change(row: CustomerImport, stored: Customer): Wanted | Rejection[] {
  const values = merge(row, stored);
  const rejections = rejectMetadata(values.metadata);
  return rejections.length > 0 ? rejections : { values };
}

function merge({ id: _key, address, shippingAddress, metadata, ...row }: CustomerImport, stored?: Customer) {
  return {
    ...given(row),
    address: mergeAddress(stored?.address, address),
    shippingAddress: mergeAddress(stored?.shippingAddress, shippingAddress),
    metadata: mergeMetadata(stored?.metadata ?? {}, metadata),
  };
}

function mergeAddress(
  stored: StoredAddress | null | undefined,
  patch: CustomerImport['address'],
): StoredAddress | null {
  if (patch === null) return null;
  return storedAddress({ ...stored, ...given(patch ?? {}) });
}
