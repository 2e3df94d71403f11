/** The customers of the calling organization. */
import { missingName } from '../../contract/customer-name.ts';
import { customerListQuery } from '../../contract/customers.ts';
import type { V1 } from '../../contract/v1.ts';
import type { Customer } from '../entities/customer.ts';
import { phoneDigits } from '../entities/fold.ts';
import { Problem } from '../problems/problem.ts';
import { customerIndex, customerTable, newCustomer, presentCustomer, updatedCustomer } from '../records/customer.ts';
import { storedId } from '../records/public-id.ts';
import { readOne } from '../records/reader.ts';
import { between, either, equal, exactly, hasMembers, marked } from '../records/sql.ts';
import { update } from '../records/writer.ts';
import { requireMatch } from './conditional.ts';
import { create, translateConflict } from './create.ts';
import type { Handlers } from './handler.ts';
import { commonFilters, listOf, listPage } from './list.ts';
import { record } from './reply.ts';
import { phoneMatches } from './phone.ts';
import { customerSearch } from './search.ts';

export const customers: Handlers<V1['customers']> = {
  list(request, caller) {
    return listPage(caller, request, customerList);
  },

  async get({ params }, caller) {
    const id = storedId('customer', params.customerId);
    const row = id && (await readOne(caller, customerTable.selection, exactly('id', id)));
    if (!row) throw notFound();
    return record(presentCustomer(row));
  },

  create({ body, query, headers }, caller) {
    return create(caller, {
      kind: 'customer',
      path: '/v1/customers',
      table: customerTable,
      body,
      onConflict: query.onConflict,
      idempotencyKey: headers['idempotency-key'],
      ifMatch: headers['if-match'],
      missing: missingName(body),
      values: () => newCustomer(body),
      merge: (row) => updatedCustomer(row, body),
      present: presentCustomer,
    });
  },

  async update({ params, body, headers }, caller) {
    const id = storedId('customer', params.customerId);
    const row =
      id &&
      (await translateConflict(caller, { kind: 'customer', table: customerTable, body }, () =>
        update(caller, customerTable, exactly('id', id), (stored) => {
          requireMatch(headers['if-match'], () => presentCustomer(stored).etag);
          return updatedCustomer(stored, body);
        }),
      ));
    if (!row) throw notFound();
    return record(presentCustomer(row));
  },
};

const notFound = () => new Problem('not_found', { record: 'customer' });

export const customerList = listOf({
  path: 'customers',
  query: customerListQuery,
  selection: customerTable.selection,
  index: customerIndex,
  orders: { createdAt: 'createdAt', updatedAt: 'updatedAt', name: 'nameKey' },
  filters: {
    ...commonFilters<Customer>('customer'),
    email: (value) => equal('emailKey', value.toLowerCase(), { ordered: 'createdAt' }),
    phone: hasPhone,
    country: (code) => marked('country', code),
    tag: (value) => hasMembers('tokens', { tag: [value.toLowerCase()] }),
    status: (value) => marked('status', value),
    q: customerSearch,
  },
  present: presentCustomer,
});

/** Seven or more digits identify a number, whatever comes before them; fewer must be the whole number. */
function hasPhone(typed: string) {
  const digits = phoneDigits(typed);
  if (digits.length < 7) return equal<Customer>('phoneKey', reverse(digits));
  const { endings, wholes } = phoneMatches(typed);
  // ':' is the character after '9', so the range contains what starts with these digits.
  const ranges = [...new Set([digits, ...endings].map(reverse))].map((ending) =>
    between<Customer>('phoneKey', ending, `${ending}:`),
  );
  const conditions = [...ranges, ...wholes.map((whole) => equal<Customer>('phoneKey', reverse(whole)))];
  return conditions.length === 1 ? conditions : either(...conditions);
}

const reverse = (digits: string): string => [...digits].toReversed().join('');
