/** What the compiler accepts and rejects: `tsc` checks this file, and every expected error must occur. */
import type { IncomingHttpHeaders } from 'node:http';
import { expect, expectTypeOf, test } from 'vitest';
import { createClient, unwrapWebhook } from '../../client/index.ts';
import type * as api from '../../client/index.ts';
import type { Customer as ContractCustomer } from '../../contract/customers.ts';
import type { Proposal as ContractProposal } from '../../contract/proposals.ts';
import { operationsOf } from '../../contract/operations.ts';
import { v1 } from '../../contract/v1.ts';
import type { V1 } from '../../contract/v1.ts';
import type { Open } from './open.ts';

type Client = api.Client;

/** Never called: only the compiler reads it. */
async function calls(client: Client): Promise<void> {
  for await (const customer of client.customers.list({ status: 'active' }))
    expectTypeOf(customer).toEqualTypeOf<Open<ContractCustomer>>();
  for await (const { status } of client.proposals.sync({ since: new Date(), include: 'lineItems' })) {
    expectTypeOf(status).toEqualTypeOf<api.Proposal['status']>();
  }
  const { data, pagination } = await client.items.list(
    { limit: 5, updatedSince: new Date(), sort: '-name' },
    { timeoutMs: 1 },
  );
  expectTypeOf(data).items.toEqualTypeOf<api.Item>();
  expectTypeOf(pagination.nextCursor).toEqualTypeOf<string | null>();
  await client.customers.create({ name: 'Ann', metadata: { size: 3 } }, { idempotencyKey: 'k', onConflict: 'return' });
  await client.customers.update('cus_1', { name: 'Ann', notes: null, address: { city: null } }, { ifMatch: '"1"' });

  const read = await client.customers.get('cus_1');
  expectTypeOf(read).toEqualTypeOf<api.Customer>();
  await client.customers.update(read.id, { ...read, notes: 'sent back whole' }, { ifMatch: read.etag });
  expectTypeOf(await client.customers.get('cus_1', { timeoutMs: 5 })).toEqualTypeOf<api.Customer>();
  expectTypeOf(await client.customers.get('cus_1', { ifNoneMatch: '"1"' })).toEqualTypeOf<api.Customer | null>();
  const status: api.ProposalStatus = 'paused';
  for await (const page of client.proposals.list().pages()) expectTypeOf(page).toEqualTypeOf<api.ProposalList>();
  for await (const page of client.customers.sync({ checkpoint: status }).pages()) {
    expectTypeOf(page).toEqualTypeOf<api.SyncPage<api.CustomerList>>();
    expectTypeOf(page.erased).items.toEqualTypeOf<api.Customer>();
  }

  // @ts-expect-error a request takes known values only
  await client.customers.list({ status });
  // @ts-expect-error there is no such field
  await client.customers.create({ nmae: 'Ann' });
  // @ts-expect-error a number is not a name
  await client.customers.create({ name: 7 });
  // @ts-expect-error an item needs a price
  await client.items.create({ type: 'service', name: 'Painting' });
  // @ts-expect-error there is no such type
  await client.items.create({ type: 'gadget', name: 'Painting', unitPrice: '1' });
  // @ts-expect-error there is no such type
  await client.customers.update('cus_1', { type: 'robot' });
  // @ts-expect-error there is no such field
  await client.customers.update('cus_1', { nmae: 'Ann' });
  // @ts-expect-error a name cannot be cleared
  await client.customers.update('cus_1', { name: null });
  // @ts-expect-error there is no such parameter
  await client.customers.list({ emial: 'a@example.com' });
  // @ts-expect-error there is no such order
  await client.customers.list({ sort: 'email' });
  // @ts-expect-error a Date is for times only
  await client.customers.list({ q: new Date() });
  // @ts-expect-error items cannot be merged into
  await client.items.create({ type: 'service', name: 'Painting', unitPrice: '1' }, { onConflict: 'update' });
  // @ts-expect-error a get has nothing to match
  await client.customers.get('cus_1', { ifMatch: '"1"' });
  // @ts-expect-error an id is needed
  await client.customers.get();
  // @ts-expect-error a sync has its own order
  client.customers.sync({ sort: 'name' });
  // @ts-expect-error there is no such operation
  void client.proposals.create;
  // @ts-expect-error the key cannot be read back
  void client.apiKey;
}

/** The types of undici and node-fetch: only their own classes, and what every `fetch` takes. */
declare class OtherHeaders {
  get(name: string): string | null;
  has(name: string): boolean;
  forEach(each: (value: string, name: string, self: OtherHeaders) => void): void;
  raw(): Record<string, string[]>;
}
type OtherInit = { method?: string; headers?: OtherHeaders | Record<string, string>; body?: string };
type OtherResponse = { ok: boolean; status: number; headers: OtherHeaders; text(): Promise<string> };
type OtherFetch = (url: string | URL, init?: OtherInit & { dispatcher?: object }) => Promise<OtherResponse>;

function fetches(options: api.ClientOptions, otherFetch: OtherFetch): void {
  createClient({ ...options, fetch: globalThis.fetch });
  createClient({ ...options, fetch: otherFetch });
  createClient({ ...options, fetch: (url, init) => otherFetch(url, { ...init, dispatcher: {} }) });
}

const webhooks = (of: { fetch: Headers; otherFetch: OtherHeaders; node: IncomingHttpHeaders }) =>
  Object.values(of).map((headers) => unwrapWebhook('{}', headers, 'whsec_'));

function failures(error: unknown, isApiError: typeof api.isApiError): void {
  if (!isApiError(error)) return;
  expectTypeOf(error.problem).toEqualTypeOf<api.Problem | null>();
  // @ts-expect-error there is no such code
  error.is('not_fuond');
  if (!error.is('sku_taken', 'external_id_taken')) return;
  expectTypeOf(error.code).toEqualTypeOf<'sku_taken' | 'external_id_taken'>();
  expectTypeOf(error.problem.existingId).toEqualTypeOf<string | undefined>();
}

test('the client’s types match the contract’s', () => {
  void [calls, fetches, webhooks, failures];
  type Methods = { [Resource in keyof V1]: keyof V1[Resource] };
  type Named = { [Resource in keyof V1]: Exclude<keyof Client[Resource], 'sync'> };
  expectTypeOf<Named>().toEqualTypeOf<Methods>();
  expectTypeOf<Awaited<ReturnType<Client['customers']['get']>>>().toEqualTypeOf<Open<ContractCustomer>>();
  expectTypeOf<Awaited<ReturnType<Client['customers']['create']>>>().toEqualTypeOf<Open<ContractCustomer>>();
  expectTypeOf<Awaited<ReturnType<Client['proposals']['get']>>>().toEqualTypeOf<Open<ContractProposal>>();
  const client = createClient({ baseUrl: 'https://api.example.com', apiKey: `ak_live_${'7'.repeat(64)}` });
  const namesOf = (resources: object) =>
    Object.entries(resources).map(([resource, methods]) => [resource, Object.keys(methods).filter(isOperation)]);
  const isOperation = (name: string) => name !== 'sync';
  expect(namesOf(client)).toEqual(namesOf(v1));
});

test('no query parameter shares its name with an option', () => {
  type Parameters = keyof (api.CustomerListQuery & api.ProposalListQuery & api.ItemListQuery);
  expectTypeOf<keyof api.CallOptions & (Parameters | 'onConflict')>().toBeNever();
  const options = { headers: true, maxRetries: true, signal: true, timeoutMs: true };
  expectTypeOf<keyof typeof options>().toEqualTypeOf<keyof api.CallOptions>();
  const parameters = operationsOf(v1).flatMap(({ query }) => Object.keys(Reflect.get(Object(query), 'shape') ?? {}));
  expect(parameters).toContain('onConflict');
  expect(parameters.filter((name) => name in options)).toEqual([]);
});
