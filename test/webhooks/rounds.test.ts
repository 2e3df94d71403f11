/** How many events are claimed at a time: few long ones, so that PostgreSQL can read them in time. */
import { expect, test } from 'vitest';
import { importInto } from '../import/importing.ts';
import { useWorld } from '../world.ts';
import { useReceiver } from './receiver.ts';
import { endpointTo, until, webhookWorld } from './scene.ts';

const { webhooks, ...rest } = webhookWorld;
// No round, turn or lease ends early, no matter how busy the machine is.
const unhurried = { leaseSeconds: 600, roundMs: 600_000, turnMs: 600_000 };
const world = useWorld({
  ...rest,
  webhooks: {
    ...webhooks,
    limits: { ...webhooks.limits, ...unhurried, concurrency: 2, round: 8, roundLength: 10_000 },
  },
});

/** How many events were being sent as each of them arrived. */
async function roundsOf(notes: string): Promise<number[]> {
  const tenant = await world.organization();
  const receiver = await useReceiver();
  const sending: number[] = [];
  const note = async () => {
    const count = `select count(*)::int from webhook_deliveries where organization_id = $1 and state = 'sending'`;
    const { rows } = await world.database.pool.query<{ count: number }>(count, [tenant.organization.id]);
    sending.push(rows[0]?.count ?? 0);
  };
  receiver.respond((response) => void note().then(() => response.writeHead(204).end()));
  await endpointTo(tenant, receiver, { events: ['customer.created'] });
  // In one transaction, so all of them are due at once.
  const customers = Array.from({ length: 22 }, (_, index) => ({ externalId: `C-${index}`, name: 'Ann', notes }));
  expect(await importInto(world, tenant).rows('customers', ...customers)).toMatchObject({ created: 22 });
  await until(() => sending.length, 22);
  return sending;
}

test('rounds of short events double up to a limit', async () => {
  const rounds = [2, 4, 8, 8].flatMap((size) => Array<number>(size).fill(size));
  expect(await roundsOf('short')).toEqual(rounds);
});

test('rounds of long events stay small', async () => {
  expect(await roundsOf('long '.repeat(990))).toEqual(Array(22).fill(2));
});
