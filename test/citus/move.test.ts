/** On a Citus cluster, an organization moves to another node while it is being written to. */
import { describe, expect, inject, test } from 'vitest';
import { changeInactivityLimit } from '../../server/database/pool.ts';
import { audit, newTally, write } from '../faults/writers.ts';
import { useWorld } from '../world.ts';
import { workersOf } from './cluster.ts';

const workers = await workersOf(inject('databaseUrl'));

type Placement = { shardid: string; nodename: string; nodeport: number };

describe.skipIf((workers?.length ?? 0) < 2)('citus_move_shard_placement', () => {
  const limiter = { take: () => ({ accepted: true, remaining: 99, resetSeconds: 60 }) };
  const world = useWorld({ ownDatabase: true, limiter });

  async function placementOf(organizationId: string): Promise<Placement> {
    const { rows } = await world.database.pool.query<Placement>(
      `select shardid, nodename, nodeport from citus_shards
       where shardid = get_shard_id_for_distribution_column('customers', $1::uuid)`,
      [organizationId],
    );
    const [placement] = rows;
    if (!placement) throw new Error('The organization is on no node.');
    return placement;
  }

  test('loses no record, duplicates none, and fails no request', async () => {
    const tenant = await world.organization();
    const tally = newTally();
    let isOver = false;
    const writing = write(tally, { urls: () => [world.url], keys: [tenant.key], writers: 4, isOver: () => isOver });
    const before = await placementOf(tenant.organization.id);
    try {
      for (let move = 0; move < 2; move += 1) {
        const from = await placementOf(tenant.organization.id);
        const to = workers?.find(({ nodeport }) => nodeport !== from.nodeport);
        // All tables of the organization's shard move together.
        await unlimited(`select citus_move_shard_placement(${from.shardid}, '${from.nodename}', ${from.nodeport},
          '${to?.nodename}', ${to?.nodeport})`);
        expect((await placementOf(tenant.organization.id)).nodeport).toBe(to?.nodeport);
      }
    } finally {
      isOver = true;
    }
    await writing;
    expect(await placementOf(tenant.organization.id)).toEqual(before);
    process.stdout.write(`Moved twice under load: ${JSON.stringify({ ...tally, created: tally.created.length })}\n`);
    expect(await audit(world.database.pool, tally)).toEqual({ lost: 0, doubled: 0 });
    expect(tally.created.length).toBeGreaterThan(0);
    expect(Object.keys(tally.statuses).filter((status) => !['200', '201'].includes(status))).toEqual([]);
  });

  /** Runs without a timeout: the more data, the longer a move takes. */
  async function unlimited(text: string): Promise<void> {
    const client = await world.database.pool.connect();
    try {
      await client.query('set statement_timeout = 0');
      changeInactivityLimit(client, 0);
      await client.query(text);
    } finally {
      client.release(true);
    }
  }
});
