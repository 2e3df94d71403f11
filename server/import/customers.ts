import { customer, missingName } from '../../contract/customers.ts';
import type { Customer } from '../entities/customer.ts';
import { newCustomer, patchedCustomer } from '../records/customer.ts';
import { columnsOf } from './columns.ts';
import type { Kind } from './kind.ts';
import { resultOf } from './row-result.ts';
import { customerImport } from './schemas.ts';
import type { CustomerImport } from './schemas.ts';

export const customers: Kind<CustomerImport, Customer> = {
  name: 'customers',
  id: 'customer',
  schema: customerImport,
  record: customer,
  columns: columnsOf(customerImport),
  tableOf: (store) => store.customers,
  isFlat: true,
  weigh: () => 1,
  planner: async () => (row, stored) => {
    const { id: _key, ...given } = row;
    const missing = stored ? undefined : missingName(row);
    if (missing) return [{ field: missing.field, code: missing.code, message: missing.message }];
    return resultOf(() => (stored ? patchedCustomer(stored, given) : newCustomer(given)));
  },
};
