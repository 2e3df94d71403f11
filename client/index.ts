/**
 * The typed client of the API. It needs only `fetch`: it runs in Node 20 and later, Bun, Deno and edge workers.
 *
 * @example
 * const client = createClient({ baseUrl: 'https://api.example.com', apiKey });
 * const { id } = await client.customers.create({ name: 'Alfreds Futterkiste' });
 * await client.customers.update(id, { tags: ['wholesale'] });
 * for await (const { number, total } of client.proposals.list({ status: 'accepted' })) console.log(number, total);
 *
 * @example
 * // What has changed since the last run:
 * const changes = client.customers.sync({ since: await readTime() });
 * for await (const customer of changes) await store(customer.id, customer);
 * await storeTime(changes.syncedThrough);
 *
 * @example
 * // The same, page by page, which survives a crash:
 * for await (const page of client.customers.sync({ checkpoint: await readCheckpoint() }).pages()) {
 *   await transaction(() => Promise.all([storeAll(page.data), eraseAll(page.erased), storeCheckpoint(page.checkpoint)]));
 * }
 */
export { createClient } from './client.ts';
export type { ClientOptions } from './call.ts';
export { ApiError, ConnectionError, isApiError, TimeoutError } from './errors.ts';
export type { ErrorCode } from './errors.ts';
export type { List, PageShape } from './list.ts';
export type { Attempt, Fetch, Wait } from './send.ts';
export type { Sync, SyncPage } from './sync.ts';
export { unwrapWebhook, WebhookVerificationError } from './webhooks.ts';
export type { UnwrapOptions, WebhookHeaders } from './webhooks.ts';
export type * from './generated.ts';
export type * from './methods.ts';
export type * from './options.ts';
