/** What one organization or endpoint is sent does not depend on the others. */
import { expect, test } from 'vitest';
import { switchEndpoint } from '../../server/webhooks/endpoints.ts';
import { proposal } from '../records.ts';
import { useWorld } from '../world.ts';
import { useReceiver } from './receiver.ts';
import { deliveriesOf, endpointTo, until, webhookWorld } from './scene.ts';

const world = useWorld(webhookWorld);

/** Before the look or after its bound, from when the record was written. */
const times = [
  ['-1 hour', '-1 hour'],
  ['-1 hour', '0'],
  ['0', '0'],
  ['0', '1 hour'],
  ['1 hour', '1 hour'],
] as const;

test('a look for changes finds none of another organization, whenever its records were created and changed', async () => {
  const [tenant, other] = [await world.organization(), await world.organization()];
  const receiver = await useReceiver();
  await endpointTo(tenant, receiver);
  for (const table of ['customers', 'items', 'proposals'])
    for (const [created, changed] of times) {
      const { id: customer } = await other.client.customers.create({ name: 'Theirs' });
      await other.client.items.create({ type: 'service', name: 'Theirs', unitPrice: '10' });
      await proposal(other, { customer });
      const set = 'created_at = created_at + $2::interval, updated_at = updated_at + $3::interval';
      const text = `update ${table} set ${set} where organization_id = $1`;
      await world.database.pool.query(text, [other.organization.id, created, changed]);
    }
  await tenant.client.customers.create({ name: 'Ours' });
  await until(() => receiver.received.length, 1);
  expect(receiver.received[0]?.event.data).toMatchObject({ name: 'Ours' });
  expect((await deliveriesOf(world, tenant)).map(({ type }) => type)).toEqual(['customer.created']);
});

test('a new state of a record replaces what waits for the same endpoint, and for no other', async () => {
  const tenant = await world.organization();
  const { id } = await tenant.client.customers.create({ name: 'A' });
  const [down, up] = [await useReceiver(), await useReceiver()];
  down.respond((response) => void response.writeHead(503).end());
  const { endpoint } = await endpointTo(tenant, down, { events: ['customer.updated'] });
  await tenant.client.customers.update(id, { name: 'B' });
  await until(() => down.received.length, 1);
  await until(async () => (await deliveriesOf(world, tenant))[0]?.state, 'pending');
  await switchEndpoint(tenant.em(), tenant.admin, { id: endpoint.id, on: false });
  await endpointTo(tenant, up, { events: ['customer.updated'] });
  await tenant.client.customers.update(id, { name: 'C' });
  await until(() => up.received.length, 1);
  down.respond((response) => void response.writeHead(204).end());
  await switchEndpoint(tenant.em(), tenant.admin, { id: endpoint.id, on: true });
  const states = async () => (await deliveriesOf(world, tenant)).map(({ state }) => state);
  expect(await states()).not.toContain('replaced');
});
