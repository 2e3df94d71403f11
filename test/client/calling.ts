/** Calls the real server with clients of new organizations. */
import { createClient, isApiError } from '../../client/index.ts';
import type { ApiError, Client, ClientOptions, Customer } from '../../client/index.ts';
import type { Tenant, World } from '../world.ts';

export const clientOf = (world: World, tenant: Tenant, options: Partial<ClientOptions> = {}): Client =>
  createClient({ baseUrl: world.url, apiKey: tenant.key, ...options });

export async function newClient(world: World): Promise<{ client: Client; tenant: Tenant }> {
  const tenant = await world.organization();
  return { client: clientOf(world, tenant), tenant };
}

/** Creates customers with these names, in this order. */
export async function named(client: Client, ...names: string[]): Promise<Customer[]> {
  const made: Customer[] = [];
  for (const name of names) made.push(await client.customers.create({ name }));
  return made;
}

export async function all<Item>(list: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of list) items.push(item);
  return items;
}

export const failureOf = async (call: PromiseLike<unknown>): Promise<ApiError> => {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isApiError(error)) throw new Error('The call was expected to fail with an ApiError.', { cause: error });
  return error;
};
