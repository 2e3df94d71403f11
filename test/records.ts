/** Records for tests: created through the API if it can, otherwise stored as an organization's application would. */
import { ApiError } from '../client/index.ts';
import { prefixes } from '../contract/fields.ts';
import type { Kind } from '../contract/fields.ts';
import { proposalStatuses } from '../contract/proposals.ts';
import { entities } from '../server/database/entities.ts';
import { Customer } from '../server/entities/customer.ts';
import { Proposal, ProposalLine } from '../server/entities/proposal.ts';
import { uuidv7 } from '../server/entities/uuid.ts';
import { publicId, storedId } from '../server/records/public-id.ts';
import { lineTotals, proposalTotals } from '../server/records/money.ts';
import { bodyExample, getOf, listReferredToBy, lists, nameFieldOf, operationAt } from './contract.ts';
import type { Tenant, World } from './world.ts';

type Line = Partial<
  Pick<
    ProposalLine,
    | 'type'
    | 'name'
    | 'description'
    | 'sku'
    | 'quantity'
    | 'unit'
    | 'unitPrice'
    | 'discountAmount'
    | 'taxRate'
    | 'optional'
    | 'selected'
    | 'itemId'
  >
>;
type Wanted = Partial<Omit<Proposal, 'customerId'>> & { customer?: string; lines?: Line[] };

async function customerOf({ em }: Tenant, id: string | undefined) {
  const stored = storedId('customer', id ?? '');
  const found = stored === undefined ? null : await em().findOne(Customer, { id: stored });
  return { customerId: found?.id ?? null, customerKey: found?.nameSearch ?? null };
}

/** Stores a proposal and returns its public id; `customer` is a public id. */
export async function proposal(tenant: Tenant, { customer, lines = [{}], ...wanted }: Wanted = {}): Promise<string> {
  const em = tenant.em();
  const id = uuidv7();
  const currency = wanted.currency ?? tenant.organization.currency;
  const amounts = lines.map((line) => {
    const {
      quantity = '1',
      unitPrice = '100',
      discountAmount = '0',
      taxRate = null,
      optional = false,
      selected = true,
      type = 'service',
      name = 'Work',
      ...texts
    } = line;
    const given = { quantity, unitPrice, discountAmount, taxRate };
    return { ...given, ...lineTotals(given, currency), optional, selected, type, name, ...texts };
  });
  em.create(Proposal, {
    id,
    number: `P-${id.slice(-12)}`,
    title: 'Proposal',
    status: 'draft',
    statusChangedAt: '2026-01-01T00:00:00.000Z',
    currency,
    lineItemCount: lines.length,
    ...(await customerOf(tenant, customer)),
    ...proposalTotals(amounts, currency),
    ...wanted,
  });
  amounts.forEach((line, index) => em.create(ProposalLine, { ...line, proposalId: id, position: index + 1 }));
  await em.flush();
  return publicId('proposal', id);
}

/** How to store records of lists without a POST. Records with different indexes differ in everything that is filtered. */
const stored: Record<string, (tenant: Tenant, index: number) => Promise<string>> = {
  '/v1/proposals': async (tenant, index) => {
    const { id } = await tenant.client.customers.create({ name: `Customer ${index}` });
    const at = new Date(Date.UTC(2026, 0, 1, 0, index)).toISOString();
    return proposal(tenant, {
      customer: id,
      title: `Record ${index}`,
      number: `P-${index}`,
      currency: index % 2 === 0 ? 'USD' : 'EUR',
      status: proposalStatuses[index % proposalStatuses.length] ?? 'draft',
      statusChangedAt: at,
      sentAt: at,
      acceptedAt: at,
      // The later its last change, the sooner it expires.
      expiresAt: new Date(Date.UTC(2026, 5, 1, 0, -index)).toISOString(),
      externalId: `external-${index}`,
      metadata: { index: String(index) },
    });
  },
};

/**
 * Creates a record that GET `path` lists, and returns its id. It sends the published example of the body; `index` makes
 * the name, the externalId and whatever else is unique different from those of other records.
 */
export async function createRecord(
  tenant: Tenant,
  path: string,
  index: number,
  more: Record<string, unknown> = {},
): Promise<string> {
  const create = operationAt('POST', path);
  const store = stored[path];
  if (!create) {
    if (!store) throw new Error(`Nothing creates a record of ${path}: say in test/records.ts how one is stored.`);
    return store(tenant, index);
  }
  const body = bodyExample(create);
  await storeReferred(tenant, body);
  const own = { [nameFieldOf(create)]: `Record ${index}`, externalId: `external-${index}`, sku: `sku-${index}` };
  for (const [field, value] of Object.entries(own)) if (field in body) body[field] = value;
  const { status, body: created, text } = await tenant.call('POST', path, { ...body, ...more });
  if (status !== 201) throw new Error(`POST ${path} answered ${status}: ${text}`);
  return String(created.id);
}

/** Stores the records to which the published example of a body refers, with the ids that they have there. */
export async function storeReferred(tenant: Tenant, body: Record<string, unknown>): Promise<void> {
  for (const value of Object.values(body)) {
    const list = listReferredToBy(value);
    const entity = entities.find(({ meta }) => list?.path.endsWith(`/${meta.tableName}`));
    const wanted = storedIdOf(String(value));
    if (!list || !entity || (await tenant.em().count(entity, { id: wanted })) > 0) continue;
    const id = storedIdOf(await createRecord(tenant, list.path, 10_000));
    await tenant.em().nativeUpdate(entity, { id }, { id: wanted });
  }
}

/** One record of every list, by the name of its path parameter: `{ customerId: 'cus_…', … }`. */
export async function oneOfEach(tenant: Tenant, index = 0): Promise<Record<string, string>> {
  const ids: Record<string, string> = {};
  for (const list of lists) ids[idParameter(getOf(list))] = await createRecord(tenant, list.path, index);
  return ids;
}

/** The path parameter of an operation on one record, such as `customerId`; '' if it has none. */
export const idParameter = ({ path }: { path: string }): string => /:(\w+)/.exec(path)?.[1] ?? '';

/** The database's form of a public id. */
export function storedIdOf(id: string): string | undefined {
  const found = Object.entries(prefixes).find(([, prefix]) => id.startsWith(`${prefix}_`));
  // Object.entries loses the names of the kinds.
  return found && storedId(found[0] as Kind, id);
}

/** Sets columns that the API cannot: the database sets times, and some statuses are set only by the application. */
export async function setColumns(
  { database }: World,
  { organization }: Tenant,
  path: string,
  id: string,
  columns: Record<string, unknown>,
): Promise<void> {
  const names = Object.keys(columns).map((name, index) => `${snakeCase(name)} = $${index + 3}`);
  const text = `update ${path.split('/').at(-1)} set ${names.join(', ')} where organization_id = $1 and id = $2`;
  const values = [organization.id, storedIdOf(id), ...Object.values(columns)];
  const { rowCount } = await database.pool.query(text, values);
  if (rowCount !== 1) throw new Error(`There is no record ${id}.`);
}

const snakeCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The error that a call of the client fails with. */
export async function rejection(call: PromiseLike<unknown>): Promise<ApiError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('The call was expected to fail.');
}

/** The errors of a request, as `pointer code`, sorted. */
export const errorsOf = ({ errors }: ApiError): string[] =>
  errors.map(({ pointer, field, code }) => `${pointer ?? field} ${code}`).toSorted();

/** A value that the client's types forbid, sent on purpose. */
export const invalid = (value: unknown): never => value as never;
