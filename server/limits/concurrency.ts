/**
 * Limits the concurrent operations of a key, of an organization and of the process; further ones queue. Freed slots go to
 * the organization that uses the fewest, and some slots are reserved for organizations that use none, so a few of them
 * cannot take every connection. Operations that would wait too long are rejected early.
 */
import { Problem } from '../problems/problem.ts';
import { Rejections } from './rejections.ts';
import { EventLoopScheduler } from './event-loop-scheduler.ts';

/**
 * `brief` reads a record by its id, or a page in the order of an index; `large` may send many megabytes, and runs until they
 * are sent; `form` is a change on the settings pages.
 */
export type Work = 'brief' | 'search' | 'write' | 'large' | 'form';

type Most = {
  /** Brief operations may use one more slot of a key and of an organization. */
  ofKey: number;
  ofOrganization: number;
  inAll: Readonly<Record<Work, number>>;
  /** Slots of each kind that only an organization without any slot may take. */
  reserved: number;
  /** Per organization. */
  waiting: number;
};

/** As many in all as there are connections, so operations wait here rather than for a connection. */
export type Capacity = Pick<Most['inAll'], 'search' | 'write' | 'form'>;
/** Brief ones share connections. Fewer at a time would cost more: those that arrive together are sent as one packet. */
const always = { brief: 16, large: 20 };
const usual = { ofKey: 3, ofOrganization: 5, reserved: 2, waiting: 100 };
/** Keeps slow readers from filling the memory. */
const large = { ofKey: 1, ofOrganization: 2, reserved: 4, waiting: 20 };
const longestWaitMs = 5_000;
/** For operations that would wait longer than that. Not rejected immediately: some callers would retry immediately. */
const rejectedAfterMs = 1_000;
/** Weight of the latest operation in the moving average. */
const share = 0.1;

type Waiting = Slot & { start: () => void };
type Slot = { keyId: string; kind: Work };
/** `keys` has the key of each running operation: a few at most. */
type Running = { keys: string[]; queue: Waiting[]; averageMs: number };

export class WorkLimiter {
  readonly #organizations = new Map<string, Running>();
  readonly #most: Most;
  readonly #clock: () => number;
  readonly #total: Record<Work, number> = { brief: 0, search: 0, write: 0, large: 0, form: 0 };

  constructor(most: Most, clock: () => number = () => performance.now()) {
    this.#most = most;
    this.#clock = clock;
  }

  /** Runs `work` once a slot is free. Problem: unavailable after 5 seconds in the queue, or earlier if that is expected. */
  async run<T>(
    organizationId: string,
    slot: Slot,
    work: () => Promise<T>,
    /** The slot is free once this resolves. */
    released?: () => Promise<void>,
  ): Promise<T> {
    const running = this.#organizations.get(organizationId) ?? { keys: [], queue: [], averageMs: 0 };
    this.#organizations.set(organizationId, running);
    if (this.#hasRoom(running, slot)) this.#enter(running, slot);
    else await this.#wait(running, slot).finally(() => this.#forgetIdle(organizationId, running));
    const startedMs = this.#clock();
    let release = released;
    try {
      return await work();
    } catch (error) {
      release = undefined;
      throw error;
    } finally {
      const leave = () => this.#leave(organizationId, running, { ...slot, startedMs });
      if (release) void release().finally(leave);
      else leave();
    }
  }

  #forgetIdle(organizationId: string, { keys, queue }: Running): void {
    if (keys.length === 0 && queue.length === 0) this.#organizations.delete(organizationId);
  }

  #hasRoom(running: Running, { keyId, kind }: Slot): boolean {
    const { ofOrganization, ofKey, inAll, reserved } = this.#most;
    // A brief operation does not wait behind slow ones.
    const more = kind === 'brief' ? 1 : 0;
    const isOwnFree =
      running.keys.length < ofOrganization + more && running.keys.filter((one) => one === keyId).length < ofKey + more;
    return isOwnFree && this.#total[kind] < inAll[kind] - (running.keys.length === 0 ? 0 : reserved);
  }

  /** How long the next in the queue would wait, if the organization gets its share of the slots. */
  #expectedMs({ averageMs, queue }: Running, kind: Work): number {
    const { ofOrganization, inAll } = this.#most;
    const slots = Math.max(1, Math.min(ofOrganization, inAll[kind] / this.#organizations.size));
    return (averageMs * (queue.length + 1)) / slots;
  }

  async #wait(running: Running, slot: Slot): Promise<void> {
    if (running.queue.length >= this.#most.waiting) throw new Problem('unavailable', { reason: 'busy' });
    const isTooLong = this.#expectedMs(running, slot.kind) > longestWaitMs;
    const { promise, resolve: start, reject } = Promise.withResolvers<void>();
    const waiting = { ...slot, start };
    running.queue.push(waiting);
    const giveUp = () => {
      running.queue.splice(running.queue.indexOf(waiting), 1);
      reject(new Problem('unavailable', { reason: 'busy' }));
    };
    const timer = setTimeout(giveUp, isTooLong ? rejectedAfterMs : longestWaitMs);
    await promise.finally(() => clearTimeout(timer));
  }

  #enter(running: Running, { keyId, kind }: Slot): void {
    this.#total[kind] += 1;
    running.keys.push(keyId);
  }

  #leave(organizationId: string, running: Running, { keyId, kind, startedMs }: Slot & { startedMs: number }): void {
    const tookMs = this.#clock() - startedMs;
    running.averageMs += (tookMs - running.averageMs) * (running.averageMs === 0 ? 1 : share);
    this.#total[kind] -= 1;
    running.keys.splice(running.keys.indexOf(keyId), 1);
    while (this.#startNext());
    this.#forgetIdle(organizationId, running);
  }

  /** Starts a waiting operation of the organization that runs the fewest; false if none may start. */
  #startNext(): boolean {
    let found: { running: Running; next: Waiting } | undefined;
    for (const running of this.#organizations.values()) {
      if (found && running.keys.length >= found.running.keys.length) continue;
      const next = running.queue.find((waiting) => this.#hasRoom(running, waiting));
      if (next) found = { running, next };
    }
    if (!found) return false;
    const { running, next } = found;
    running.queue.splice(running.queue.indexOf(next), 1);
    this.#enter(running, next);
    next.start();
    return true;
  }
}

/**
 * What organizations share: slots for operations, for large ones and for changes on the settings pages, the event loop, and
 * the delay of rejections.
 */
export type Shares = ReturnType<typeof createShares>;

export function createShares(room: Capacity, clock?: () => number) {
  const inAll = { ...room, ...always };
  return {
    work: new WorkLimiter({ ...usual, inAll }, clock),
    largeWork: new WorkLimiter({ ...large, inAll }, clock),
    forms: new WorkLimiter({ ...usual, inAll }, clock),
    scheduler: new EventLoopScheduler(),
    rejections: new Rejections(),
  };
}
