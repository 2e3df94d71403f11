/** The customers of the calling organization. */
import { customerListQuery, missingName } from '../../contract/customers.ts';
import type { Customer as CustomerBody, CustomerUpdate } from '../../contract/customers.ts';
import type { V1 } from '../../contract/v1.ts';
import { Customer } from '../entities/customer.ts';
import { phoneDigits } from '../entities/fold.ts';
import { Problem } from '../problems/problem.ts';
import { customerSelection, customerTable, newCustomer, patchedCustomer, wholeAddress } from '../records/customer.ts';
import type { CustomerRow } from '../records/customer.ts';
import { changesTo, requireUnchanged, withoutUndefined } from '../records/merge-patch.ts';
import { presentMetadata } from '../records/metadata.ts';
import { publicId, storedId } from '../records/public-id.ts';
import { readOne } from '../records/reader.ts';
import { between, either, equal, exactly, hasMembers } from '../records/sql.ts';
import { update } from '../records/writer.ts';
import { requireMatch } from './conditional.ts';
import { create, orConflict } from './create.ts';
import type { Handlers } from './handler.ts';
import { commonFilters, listPage } from './list.ts';
import type { ListOf } from './list.ts';
import { record } from './reply.ts';
import { nationalDigits } from './phone.ts';
import { inCustomer } from './search.ts';

export const customers: Handlers<V1['customers']> = {
  list(request, caller) {
    return listPage(caller, request, list);
  },

  async get({ params }, caller) {
    const id = storedId('customer', params.customerId);
    const row = id && (await readOne(caller, customerSelection, exactly('id', id)));
    if (!row) throw notFound();
    return record(present(row));
  },

  create({ body, query, headers }, caller) {
    return create(caller, {
      kind: 'customer',
      path: '/v1/customers',
      entity: Customer,
      selection: customerSelection,
      body,
      onConflict: query.onConflict,
      idempotencyKey: headers['idempotency-key'],
      missing: missingName(body),
      values: () => newCustomer(body),
      merge: { table: customerTable, change: (row) => changed(row, body) },
      present,
    });
  },

  async update({ params, body, headers }, caller) {
    const id = storedId('customer', params.customerId);
    const row =
      id &&
      (await orConflict(caller, { kind: 'customer', selection: customerSelection, body }, () =>
        update(caller, customerTable, exactly('id', id), (stored) => {
          requireMatch(headers['if-match'], () => present(stored));
          return changed(stored, body);
        }),
      ));
    if (!row) throw notFound();
    return record(present(row));
  },
};

const notFound = () => new Problem('not_found', { record: 'customer' });

/** What a PATCH changes, or a create that found an existing record; only a PATCH can contain read-only fields. */
function changed(
  row: CustomerRow,
  { id, createdAt, updatedAt, ...body }: CustomerUpdate,
): Partial<CustomerRow> | undefined {
  const readOnly = withoutUndefined({ id, createdAt, updatedAt });
  if (Object.keys(readOnly).length > 0) requireUnchanged(readOnly, present(row));
  return changesTo(row, patchedCustomer(row, body));
}

const list: ListOf<typeof customerListQuery, Customer, CustomerRow, CustomerBody> = {
  path: 'customers',
  query: customerListQuery,
  selection: customerSelection,
  orders: { createdAt: 'createdAt', updatedAt: 'updatedAt', name: 'nameKey' },
  filters: {
    ...commonFilters<Customer>(),
    email: (value) => exactly('emailKey', value.toLowerCase()),
    phone: hasPhone,
    tag: (value) => hasMembers('tokens', { tag: [value.toLowerCase()] }),
    status: (value) => equal('status', value),
    q: inCustomer,
  },
  present,
};

/** Seven or more digits identify a number, whatever comes before them; fewer must be the whole number. */
function hasPhone(typed: string) {
  const digits = phoneDigits(typed);
  if (digits.length < 7) return exactly<Customer>('phoneKey', reverse(digits));
  const endings = [digits, ...nationalDigits(typed)].map(reverse);
  // ':' is the character after '9', so the range contains what starts with these digits.
  const ranges = [...new Set(endings)].map((ending) => between<Customer>('phoneKey', ending, `${ending}:`));
  return ranges.length === 1 ? ranges : either(...ranges);
}

const reverse = (digits: string): string => [...digits].toReversed().join('');

function present(customer: CustomerRow): CustomerBody {
  const { type, name, firstName, lastName, companyName, email, phone, address, shippingAddress } = customer;
  const { taxId, website, notes, tags, externalId, metadata, status, createdAt, updatedAt } = customer;
  return {
    id: publicId('customer', customer.id),
    type,
    name,
    firstName,
    lastName,
    companyName,
    email,
    phone,
    address: wholeAddress(address),
    shippingAddress: wholeAddress(shippingAddress),
    taxId,
    website,
    notes,
    tags,
    externalId,
    metadata: presentMetadata(metadata),
    status,
    createdAt,
    updatedAt,
  };
}
