/** Finds changes and delivers them, in the background of a serving process; several processes share the work. */
import { createBackground } from '../database/background.ts';
import type { Background } from '../database/background.ts';
import type { Database } from '../database/orm.ts';
import type { OrganizationId } from '../entities/owned.ts';
import { noBacklog, readBacklog } from './backlog.ts';
import type { Backlog } from './backlog.ts';
import { deliverTo, deliveryLimits } from './deliver.ts';
import type { DeliveryParts } from './deliver.ts';
import { resealSecrets } from './reseal.ts';
import { organizationsToScan, scanOrganization } from './scan.ts';
import type { ScanResult } from './scan.ts';
import { takeLeases } from './leases.ts';
import type { Leased } from './leases.ts';

export const runLimits = {
  ...deliveryLimits,
  /** Between regular scans, which find what no hint announced. */
  scanMs: 5_000,
  /** Between searches for endpoints with something due. */
  tickMs: 1_000,
  /** Between measurements of the backlog. */
  measureMs: 15_000,
  /** Between checks for secrets that a replaced AUTH_SECRET encrypted: long enough for all processes to have the new one. */
  resealMs: 3_600_000,
  /** After a hint, until the change is before the bound. */
  hintPausesMs: [20, 50, 100, 200, 400, 800],
  /** Concurrent endpoints: in all, failing ones, and per organization. */
  endpoints: 64,
  failingEndpoints: 32,
  endpointsOfOrganization: 4,
};
export type RunLimits = typeof runLimits;

type Parts = {
  database: Database;
  limits: RunLimits;
  delivery: Omit<DeliveryParts, 'pool' | 'isStopping' | 'limits'>;
  onError: (error: unknown) => void;
};

export class Webhooks {
  readonly #parts: Parts;
  readonly #background: Background;
  readonly #running = new Map<string, Leased>();
  readonly #scanning: Set<OrganizationId> = new Set();
  readonly #hinted: Set<OrganizationId> = new Set();
  /** The organizations with an active endpoint, as of the last regular scan. */
  #watched: ReadonlySet<OrganizationId> = new Set();
  #backlog = noBacklog;
  #isTaking = false;
  #takesAgain = false;

  constructor(parts: Parts) {
    const { database, limits, onError } = parts;
    this.#parts = parts;
    const background = createBackground(onError);
    this.#background = background;
    background.every(limits.measureMs, async () => {
      this.#backlog = this.#watched.size > 0 ? await readBacklog(database.pool) : noBacklog;
    });
    background.every(limits.resealMs, () => resealSecrets(database.pool, parts.delivery.seal));
    background.every(limits.scanMs, () => this.#scanAll());
    background.every(limits.tickMs, async () => this.#tick());
    background.start(() => this.#scanAll());
  }

  /** A record of the organization has just been written: it is scanned now, rather than at the next regular scan. */
  hint(organizationId: OrganizationId): void {
    if (this.#watched.has(organizationId)) this.#scanSoon(organizationId);
  }

  /** As of the last regular measurement. */
  backlog = (): Backlog => this.#backlog;

  /** Finishes the requests in flight, and begins no others. */
  async close(): Promise<void> {
    await this.#background.close();
    this.#parts.delivery.sender.close();
  }

  #scanSoon(organizationId: OrganizationId): void {
    this.#background.start(() => this.#scanUntilFound(organizationId));
  }

  /** Scans until something is found: a change that is not before the bound yet will be soon. */
  async #scanUntilFound(organizationId: OrganizationId): Promise<void> {
    if (this.#scanning.has(organizationId)) return void this.#hinted.add(organizationId);
    this.#scanning.add(organizationId);
    this.#hinted.delete(organizationId);
    try {
      for (const pauseMs of this.#parts.limits.hintPausesMs) {
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
        const { found, state } = await this.#scan(organizationId);
        if (found > 0) this.#tick();
        if (found > 0 || state === 'idle' || this.#background.isClosing()) return;
      }
    } finally {
      this.#scanned(organizationId);
    }
  }

  #scanned(organizationId: OrganizationId): void {
    this.#scanning.delete(organizationId);
    // A hint that came in the meantime may be about a later change.
    if (this.#hinted.has(organizationId)) this.#scanSoon(organizationId);
  }

  async #scan(organizationId: OrganizationId): ReturnType<typeof scanOrganization> {
    const { pool } = this.#parts.database;
    let result = await scanOrganization(pool, organizationId);
    let { found } = result;
    while (result.state === 'more' && !this.#background.isClosing()) {
      this.#tick();
      result = await scanOrganization(pool, organizationId);
      found += result.found;
    }
    return { ...result, found };
  }

  /** One part of each organization's changes at a time: none waits until all changes of another have been found. */
  async #scanAll(): Promise<void> {
    const { pool, isDistributed } = this.#parts.database;
    let hasMore = true;
    while (hasMore && !this.#background.isClosing()) {
      const { all, changed } = await organizationsToScan(pool, isDistributed);
      this.#watched = new Set(all);
      hasMore = false;
      for (const id of changed) {
        // A failure of one must not keep the others waiting.
        const state = await this.#scanPart(id).catch(this.#parts.onError);
        hasMore ||= state === 'more';
      }
    }
  }

  async #scanPart(organizationId: OrganizationId): Promise<ScanResult['state']> {
    if (this.#scanning.has(organizationId)) return 'busy';
    this.#scanning.add(organizationId);
    try {
      const { found, state } = await scanOrganization(this.#parts.database.pool, organizationId);
      if (found > 0) this.#tick();
      return state;
    } finally {
      this.#scanned(organizationId);
    }
  }

  #tick(): void {
    // Most installations have no endpoint: they pay one small statement at each regular scan.
    if (this.#watched.size > 0) this.#background.start(() => this.#take());
  }

  /** One at a time: each must count what the one before it has taken. */
  async #take(): Promise<void> {
    if (this.#isTaking) return void (this.#takesAgain = true);
    this.#isTaking = true;
    try {
      do {
        this.#takesAgain = false;
        await this.#takeDue();
      } while (this.#takesAgain && !this.#background.isClosing());
    } finally {
      this.#isTaking = false;
    }
  }

  async #takeDue(): Promise<void> {
    const { database, limits } = this.#parts;
    const running = [...this.#running.values()];
    const room = limits.endpoints - running.length;
    if (room <= 0) return;
    const leases = await takeLeases(database.pool, {
      seconds: limits.leaseSeconds,
      running: running.map(({ organizationId }) => organizationId),
      failing: running.filter(({ failures }) => failures > 0).length < limits.failingEndpoints,
      limit: Math.min(room, 16),
      ofOrganization: limits.endpointsOfOrganization,
    });
    // While closing, this only releases the lease: otherwise, other processes would have to wait until it ends.
    if (this.#background.isClosing()) await Promise.all(leases.map((lease) => this.#deliver(lease)));
    else for (const lease of leases) this.#background.start(() => this.#deliver(lease));
  }

  async #deliver(lease: Leased): Promise<void> {
    const { database, limits, delivery } = this.#parts;
    this.#running.set(lease.lease, lease);
    try {
      const isStopping = () => this.#background.isClosing();
      await deliverTo({ ...delivery, pool: database.pool, limits, isStopping }, lease);
    } finally {
      this.#running.delete(lease.lease);
      this.#tick();
    }
  }
}
