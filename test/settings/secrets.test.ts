/** AUTH_SECRET: a process with a different one is warned, and a list rotates it without invalidating anything. */
import type { Pool, QueryConfig } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { WebhookEndpoint } from '../../server/entities/webhook.ts';
import { serve } from '../../server/commands/serve/server.ts';
import { createDestinations } from '../../server/outgoing/addresses.ts';
import { createSeal } from '../../server/text/seal.ts';
import { createEndpoint, replaceSecret } from '../../server/webhooks/endpoints.ts';
import { resealSecrets } from '../../server/webhooks/reseal.ts';
import { useWorld } from '../world.ts';
import { givePassword, signIn, visit } from './visiting.ts';

const [old, fresh, other] = ['o', 'n', 'x'].map((letter) => letter.repeat(32));
const world = useWorld({ ownDatabase: true, ...(old && { authSecret: old }) });

/** What a process with this secret warns of at startup, and its responses to a cursor and session of the first one. */
async function startedWith(authSecret: string | undefined, { cookie, next, key }: Record<string, string>) {
  const warnings: string[] = [];
  const { database } = world;
  const warn = (message: string) => warnings.push(message);
  const serving = await serve({ database, log: () => undefined, host: '127.0.0.1', port: 0, authSecret, warn });
  const page = await fetch(`${serving.url}/v1/customers?cursor=${next}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const settings = await visit(serving.url, { cookie: cookie ?? '' }).get('/settings/api-keys');
  await serving.close();
  return { warnings, statuses: [page.status, settings.status] };
}

test('a different secret is reported at startup; the first in a list signs, and each is accepted', async () => {
  const tenant = await world.organization();
  for (const name of ['Ann', 'Bo']) await tenant.call('POST', '/v1/customers', { name });
  const { body } = await tenant.call('GET', '/v1/customers?limit=1');
  await givePassword(world, tenant.admin);
  const held = {
    cookie: (await signIn(world, tenant.admin)).cookie(),
    next: body.pagination.nextCursor,
    key: tenant.key,
  };

  expect(await startedWith(`${fresh},${old}`, held)).toEqual({ warnings: [], statuses: [200, 200] });
  expect(await startedWith(fresh, held)).toEqual({ warnings: [], statuses: [400, 303] });
  const { warnings } = await startedWith(other, held);
  expect(warnings).toEqual([expect.stringContaining('AUTH_SECRET differs from the one')]);
  expect((await startedWith(`${old},${other}`, held)).warnings).toEqual([]);
});

test('values sealed with an older secret in the list can be opened', () => {
  const sealWith = (secret = '') => createSeal(secret, 'webhook secrets');
  const sealed = sealWith(old).seal('whsec', 'owner');
  expect(sealWith(`${fresh},${old}`).open(sealed, 'owner')).toBe('whsec');
  expect(sealWith(fresh).open(sealed, 'owner')).toBeUndefined();
  expect(sealWith(fresh).open(sealWith(`${fresh},${old}`).seal('whsec', 'owner'), 'owner')).toBe('whsec');
  expect(createSeal(old ?? '', 'two-factor secrets').open(sealed, 'owner')).toBeUndefined();
});

test('the secrets of webhook endpoints do not need the older secret for long', async () => {
  const tenant = await world.organization();
  const destinations = createDestinations(['127.0.0.0/8']);
  const sealWith = (secret = '') => createSeal(secret, 'webhook secrets');
  const url = 'http://127.0.0.1/';
  const parts = { seal: sealWith(old), destinations };
  const fields = { name: 'E', url, events: ['customer.created'] };
  const { endpoint, secret } = await createEndpoint(tenant.em(), tenant.admin, fields, parts);
  const { id } = endpoint;
  const replaced = await replaceSecret(tenant.em(), tenant.admin, { id, overlap: 'day' }, parts);
  const stored = async () => (await tenant.em().findOneOrFail(WebhookEndpoint, { id })).secrets;
  const before = await stored();
  const openedWith = async (authSecret = '') => {
    const seal = sealWith(authSecret);
    return (await stored()).map(({ sealed, endsAt }) => [seal.open(sealed, id), endsAt]);
  };
  const { database } = world;
  const webhooks = { limits: { resealMs: 20 } };
  const running = { database, log: () => undefined, host: '127.0.0.1', port: 0, webhooks };
  const serving = await serve({ ...running, authSecret: `${fresh},${old}` });
  onTestFinished(() => serving.close());
  const expected = [
    [replaced.secret, null],
    [secret, before[1]?.endsAt],
  ];
  await expect.poll(() => openedWith(fresh)).toEqual(expected);
  const renewed = await stored();
  expect(renewed.map(({ sealed }) => sealWith(old).open(sealed, id))).toEqual([undefined, undefined]);
  // What is current is not written again.
  await resealSecrets(database.pool, sealWith(`${fresh},${old}`));
  expect(await stored()).toEqual(renewed);
  // Nor is a secret that an admin has replaced since it was read.
  let latest = '';
  const query = async (sent: string | QueryConfig, values?: unknown[]) => {
    if (typeof sent !== 'string') return database.pool.query(sent);
    const forms = { seal: sealWith(fresh) };
    latest = (await replaceSecret(tenant.em(), tenant.admin, { id, overlap: 'now' }, forms)).secret;
    return database.pool.query(sent, values);
  };
  await resealSecrets({ query } as Pool, sealWith(`${other},${fresh}`));
  expect(await openedWith(fresh)).toEqual([[latest, null]]);
});
