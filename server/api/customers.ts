/** The customers of the calling organization. */
import { LockMode } from '@mikro-orm/core';
import type {
  Customer as CustomerBody,
  CustomerCreate,
  CustomerListQuery,
  CustomerUpdate,
} from '../../contract/customers.ts';
import { tooManyKeys } from '../../contract/fields.ts';
import type { V1 } from '../../contract/v1.ts';
import { Customer, defaultType, displayName, storedAddress } from '../entities/customer.ts';
import type { StoredAddress } from '../entities/customer.ts';
import { phoneDigits } from '../entities/fold.ts';
import { publicId, storedId } from '../records/public-id.ts';
import { fieldProblem, Problem } from '../problems/problem.ts';
import { requireMatch } from './conditional.ts';
import { create, orTaken } from './create.ts';
import type { Creation } from './create.ts';
import { presentMetadata } from '../records/metadata.ts';
import type { Handlers } from './handler.ts';
import { holdsWord, listPage, searchFor, when } from './list.ts';
import type { ListOf } from './list.ts';
import { assignChanged, mergePatch, requireUnchanged } from '../records/merge-patch.ts';
import { columnsOf, equal, readOne } from '../records/read.ts';
import type { Condition, Source } from '../records/read.ts';

export const customers: Handlers<V1['customers']> = {
  async list({ query, baseUrl }, caller) {
    return { status: 200, body: await listPage(caller, baseUrl, query, list) };
  },

  async get({ params }, caller) {
    const row = await readOne<Customer>(caller, source, storedId('customer', params.customerId));
    if (!row) throw notFound();
    return { status: 200, body: present(row) };
  },

  create(asked, caller) {
    return create(caller, asked, creation(asked.body));
  },

  async update({ params, body, headers }, caller) {
    const id = storedId('customer', params.customerId);
    if (!id) throw notFound();
    const customer = await orTaken(caller, { kind: 'customer', source }, body, () =>
      caller.transaction(async (em) => {
        const found = await em.findOne(Customer, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
        if (!found) throw notFound();
        requireMatch(headers['if-match'], present(found));
        applyPatch(found, body);
        await em.flush();
        return found;
      }),
    );
    return { status: 200, body: present(customer) };
  },
};

const creation = (body: CustomerCreate): Creation<Customer, CustomerBody> => ({
  kind: 'customer',
  operation: 'POST /v1/customers',
  source,
  async insert(em) {
    const { address, shippingAddress, ...given } = body;
    const customer = em.create(Customer, {
      ...given,
      type: body.type ?? defaultType(body),
      name: displayName(body),
      address: storedAddress(address),
      shippingAddress: storedAddress(shippingAddress),
    });
    await em.flush();
    return customer;
  },
  find: (em, externalId, lockMode) => em.findOne(Customer, { externalId }, { lockMode }),
  merge: (customer) => applyPatch(customer, body),
  present,
});

const notFound = () => new Problem('not_found', 'There is no customer with this id.');

/** The body of a PATCH, or of a create that found its record there; read-only fields only come with the former. */
function applyPatch(customer: Customer, body: CustomerUpdate | CustomerCreate): void {
  const { id, createdAt, updatedAt, address, shippingAddress, metadata, ...simple }: CustomerUpdate = body;
  requireUnchanged({ id, createdAt, updatedAt }, present(customer));
  assignChanged(customer, {
    ...simple,
    address: patchedAddress(customer.address, address),
    shippingAddress: patchedAddress(customer.shippingAddress, shippingAddress),
    metadata: metadata === null ? {} : metadata && mergePatch(customer.metadata, metadata),
  });
  const excess = tooManyKeys(customer.metadata);
  if (excess) throw fieldProblem('metadata', excess.params.code, excess.message);
}

function patchedAddress(
  stored: StoredAddress | null,
  patch: CustomerUpdate['address'],
): StoredAddress | null | undefined {
  return patch ? storedAddress(mergePatch<StoredAddress>(stored, patch)) : patch;
}

const source: Source = { from: 'customers t', columns: columnsOf(Customer, 't') };

const list: ListOf<Customer, CustomerBody, Omit<CustomerListQuery, 'limit' | 'cursor' | 'sort'>> = {
  path: 'customers',
  source,
  orders: {
    createdAt: { column: 'created_at', value: ({ createdAt }) => createdAt },
    updatedAt: { column: 'updated_at', value: ({ updatedAt }) => updatedAt },
    name: { column: 'name_key', value: ({ nameKey }) => nameKey },
  },
  conditions: ({ email, phone, tag, status, q }) => [
    ...when(email, (address) => equal('t.email_key', address.toLowerCase())),
    ...when(phone, hasPhone),
    ...when(
      tag,
      (name): Condition =>
        (bind) =>
          `t.tag_keys @> array[${bind(name.toLowerCase())}]`,
    ),
    ...when(status === 'all' ? undefined : status, (value) => equal('t.status', value)),
    ...searchFor(q, (word) => holdsWord('t.search', word, true)),
  ],
  neutral: { status: 'all' },
  present,
};

/** Seven digits and more tell a number apart, whatever stands before them; fewer must be the whole number. */
function hasPhone(typed: string): Condition {
  const digits = phoneDigits(typed);
  const reversed = [...digits].reverse().join('');
  if (digits.length < 7) return equal('t.phone_key', reversed);
  // ':' is the character after '9': the range holds what starts with these digits.
  return (bind) => `t.phone_key >= ${bind(reversed)} and t.phone_key < ${bind(`${reversed}:`)}`;
}

function present(customer: Customer): CustomerBody {
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
    address: storedAddress(address),
    shippingAddress: storedAddress(shippingAddress),
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
