import { missingName } from '../../contract/customer-name.ts';
import { customer } from '../../contract/customers.ts';
import type { Customer } from '../entities/customer.ts';
import { newCustomer, patchedCustomer } from '../records/customer.ts';
import { selectErasedExternalIds } from '../records/erased-external-ids.ts';
import { columnsOf } from './fields.ts';
import type { Kind, Rejection } from './kind.ts';
import { customerImport } from './schemas.ts';
import type { CustomerImport } from './schemas.ts';

export const customers: Kind<CustomerImport, Customer> = {
  name: 'customers',
  id: 'customer',
  schema: customerImport,
  record: customer,
  columns: columnsOf(customerImport),
  required: [],
  matches: ['externalId', 'email', 'none'],
  refusedValues: {
    externalIds: selectErasedExternalIds,
    rejection: {
      field: 'externalId',
      code: 'external_id_erased',
      message: 'belonged to a customer whose personal data was erased; an admin can release it',
    },
  },
  isFlat: true,
  planner: async (store) => (row, found) => {
    const { id: _key, ...given } = row;
    const missing = found ? undefined : missingName(row);
    if (missing) return [missing];
    if (!found) return { values: newCustomer(given) };
    const values = patchedCustomer(found, given);
    return found.erasedAt !== null && store.customers.differs(found, values) ? [customerErased] : { values };
  },
};

const isErased = 'is a customer whose personal data was erased, so it cannot be changed';
const customerErased: Rejection = { field: '', code: 'customer_erased', message: isErased };
