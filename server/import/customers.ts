import { missingName } from '../../contract/customer-name.ts';
import { customer } from '../../contract/customers.ts';
import type { Customer } from '../entities/customer.ts';
import { newCustomer, patchedCustomer } from '../records/customer.ts';
import { selectErasedExternalIds } from '../records/erased-external-ids.ts';
import { columnsOf } from './fields.ts';
import { resultOf } from './kind.ts';
import type { Kind, Rejection } from './kind.ts';
import { customerImport } from './schemas.ts';
import type { CustomerImport } from './schemas.ts';
import type { Store } from './store.ts';

export const customers: Kind<CustomerImport, Customer> = {
  name: 'customers',
  id: 'customer',
  schema: customerImport,
  record: customer,
  columns: columnsOf(customerImport),
  required: [],
  matches: ['externalId', 'email', 'none'],
  tableOf: (store) => store.customers,
  isFlat: true,
  weigh: () => 1,
  async planner(store, rows, stored) {
    const erased = await erasedAmong(store, rows, stored);
    return (row, found) => {
      const { id: _key, ...given } = row;
      if (erased.has(row)) return [externalIdErased];
      const missing = found ? undefined : missingName(row);
      if (missing) return [{ field: missing.field, code: missing.code, message: missing.message }];
      if (!found) return resultOf(() => newCustomer(given));
      const result = resultOf(() => patchedCustomer(found, given));
      const isChange = !Array.isArray(result) && store.customers.differs(found, result.values);
      return isChange && found.erasedAt !== null ? [customerErased] : result;
    };
  },
  async isStillValid(store, written) {
    return (await erasedExternalIds(store, written)).size === 0;
  },
};

const customerErased: Rejection = {
  field: '',
  code: 'customer_erased',
  message: 'is a customer whose personal data was erased, which cannot be changed',
};
const externalIdErased: Rejection = {
  field: 'externalId',
  code: 'external_id_erased',
  message: 'belonged to a customer whose personal data was erased; an admin can release it',
};

/** The rows that would give a customer the externalId of an erased one. */
async function erasedAmong(
  store: Store,
  rows: readonly CustomerImport[],
  stored: readonly (Customer | undefined)[],
): Promise<ReadonlySet<CustomerImport>> {
  const giving = rows.filter(({ externalId }, index) => externalId && externalId !== stored[index]?.externalId);
  const externalIds = await erasedExternalIds(store, giving);
  const erased = giving.filter(({ externalId }) => externalIds.has(externalId));
  // What was computed for a new record does not apply.
  for (const row of erased) store.drafts.delete(row);
  return new Set(erased);
}

async function erasedExternalIds({ session }: Store, records: readonly object[]): Promise<ReadonlySet<unknown>> {
  const externalIds = records.map((record): unknown => Reflect.get(record, 'externalId')).filter(Boolean);
  if (externalIds.length === 0) return new Set();
  return new Set((await session.query(selectErasedExternalIds, [externalIds])).flat());
}
