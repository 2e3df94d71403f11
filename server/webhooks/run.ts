/** Looks for changes and delivers them, in the background of a serving process; several processes share the work. */
import { createBackground } from '../database/background.ts';
import type { Database } from '../database/orm.ts';
import type { OrganizationId } from '../entities/owned.ts';
import { noBacklog, readBacklog } from './backlog.ts';
import type { Backlog } from './backlog.ts';
import { deliverTo, deliveryLimits } from './deliver.ts';
import type { DeliveryLimits, DeliveryParts } from './deliver.ts';
import { lookAt, organizationsToLookAt } from './find.ts';
import { takeLeases } from './leases.ts';
import type { Leased } from './leases.ts';

export type Webhooks = {
  /** A record of the organization has just been written: it is looked at now, rather than at the next regular look. */
  hint(organizationId: string): void;
  /** As of the last regular measurement. */
  backlog(): Backlog;
  /** Ends the requests that are being sent, and begins no others. */
  close(): Promise<void>;
};

export type RunLimits = DeliveryLimits & {
  /** Between regular looks, which find what no hint announced. */
  lookMs: number;
  /** Between looks for endpoints with something due. */
  tickMs: number;
  /** Between measurements of the backlog. */
  measureMs: number;
  /** After a hint, until the change is behind the bound. */
  hintPausesMs: readonly number[];
  /** Endpoints at once, of all organizations, of those that fail, and of one organization. */
  endpoints: number;
  failingEndpoints: number;
  endpointsOfOrganization: number;
};

export const runLimits: RunLimits = {
  ...deliveryLimits,
  lookMs: 5_000,
  tickMs: 1_000,
  measureMs: 15_000,
  hintPausesMs: [20, 50, 100, 200, 400, 800],
  endpoints: 64,
  failingEndpoints: 32,
  endpointsOfOrganization: 4,
};

type Parts = {
  database: Database;
  limits: RunLimits;
  delivery: Omit<DeliveryParts, 'pool' | 'isStopping' | 'limits'>;
  onError: (error: unknown) => void;
};

export function runWebhooks({ database, limits, delivery, onError }: Parts): Webhooks {
  const { pool, isDistributed } = database;
  const { start, every, isClosing, close } = createBackground(onError);
  const running = new Map<string, Leased>();
  /** The organizations that have an endpoint, as of the last regular look. */
  let watched = new Map<string, OrganizationId>();
  const looking: Set<OrganizationId> = new Set();
  const hinted: Set<OrganizationId> = new Set();

  /** Until nothing is left to find; a change that is not behind the bound yet is found soon. */
  async function lookUntilFound(organizationId: OrganizationId, pausesMs: readonly number[]): Promise<void> {
    if (looking.has(organizationId)) return void hinted.add(organizationId);
    looking.add(organizationId);
    hinted.delete(organizationId);
    try {
      for (const pauseMs of pausesMs) {
        if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
        let look = await lookAt(pool, organizationId);
        let found = look.found;
        while (look.state === 'more' && !isClosing()) {
          tick();
          look = await lookAt(pool, organizationId);
          found += look.found;
        }
        if (found > 0) tick();
        if (found > 0 || look.state === 'idle' || isClosing()) return;
      }
    } finally {
      looking.delete(organizationId);
      // A hint that came meanwhile may be of a later change.
      if (hinted.has(organizationId)) start(() => lookUntilFound(organizationId, limits.hintPausesMs));
    }
  }

  async function lookAtAll(): Promise<void> {
    const { all, changed } = await organizationsToLookAt(pool, isDistributed);
    watched = new Map(all.map((id) => [id, id]));
    for (const id of changed) await lookUntilFound(id, [0]);
  }

  function tick(): void {
    // Most installations have no endpoint: they pay one small statement at each regular look.
    if (watched.size > 0) start(take);
  }

  async function take(): Promise<void> {
    const failing = [...running.values()].filter(({ failures }) => failures > 0).length;
    const leases = await takeLeases(pool, {
      seconds: limits.leaseSeconds,
      busy: busyOrganizations([...running.values()], limits.endpointsOfOrganization),
      failing: failing < limits.failingEndpoints,
      limit: Math.min(limits.endpoints - running.size, 16),
    });
    for (const lease of leases) start(() => deliver(lease));
  }

  async function deliver(lease: Leased): Promise<void> {
    running.set(lease.lease, lease);
    try {
      await deliverTo({ ...delivery, pool, limits, isStopping: isClosing }, lease);
    } finally {
      running.delete(lease.lease);
      tick();
    }
  }

  let backlog = noBacklog;
  every(limits.measureMs, async () => {
    backlog = watched.size > 0 ? await readBacklog(pool) : noBacklog;
  });
  every(limits.lookMs, lookAtAll);
  every(limits.tickMs, async () => tick());
  start(lookAtAll);
  return {
    hint(organizationId) {
      const known = watched.get(organizationId);
      if (known !== undefined) start(() => lookUntilFound(known, limits.hintPausesMs));
    },
    backlog: () => backlog,
    async close() {
      await close();
      delivery.sender.close();
    },
  };
}

function busyOrganizations(leases: readonly Leased[], most: number): string[] {
  const counts = new Map<string, number>();
  for (const { organizationId } of leases) counts.set(organizationId, (counts.get(organizationId) ?? 0) + 1);
  return [...counts].filter(([, count]) => count >= most).map(([id]) => id);
}
