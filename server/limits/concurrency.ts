/**
 * Limits the concurrent operations of a key, of an organization and of the process: further ones queue. Freed slots go to
 * the organization that uses the fewest, and some slots are kept for organizations that use none, so that no few of them
 * can take every connection. What would wait too long is rejected early.
 */
import { Problem } from '../problems/problem.ts';
import { Rejections } from './rejections.ts';
import { Turns } from './turns.ts';

type Most = {
  ofKey: number;
  ofOrganization: number;
  inAll: number;
  /** Slots among these that only an organization without any may take. */
  reserved: number;
  /** Of an organization. */
  waiting: number;
};

/** As many in all as a pool has connections, so that nobody waits for a connection instead of here. */
const usual: Most = { ofKey: 3, ofOrganization: 5, inAll: 10, reserved: 2, waiting: 100 };
/** Those whose responses may be many megabytes, until they are sent: slow readers fill the memory no further. */
const large: Most = { ofKey: 1, ofOrganization: 2, inAll: 20, reserved: 4, waiting: 20 };
const longestWaitMs = 5_000;
/** For what would wait longer than that. Not rejected at once: some callers would repeat it at once. */
const hopelessWaitMs = 1_000;
/** How much the latest work counts in the average. */
const share = 0.1;

type Waiting = { keyId: string; start: () => void };
/** `keys` has the key of each that runs: a few at most. */
type Running = { keys: string[]; queue: Waiting[]; averageMs: number };

export class WorkLimiter {
  readonly #organizations = new Map<string, Running>();
  readonly #most: Most;
  readonly #clock: () => number;
  #total = 0;

  constructor(most: Most = usual, clock: () => number = () => performance.now()) {
    this.#most = most;
    this.#clock = clock;
  }

  /** Runs `work` once a slot is free. Problem: unavailable after 5 seconds in the queue, or earlier where it would take longer. */
  async run<T>(
    organizationId: string,
    keyId: string,
    work: () => Promise<T>,
    /** The slot is free once this resolves. */
    released?: () => Promise<void>,
  ): Promise<T> {
    const running = this.#organizations.get(organizationId) ?? { keys: [], queue: [], averageMs: 0 };
    this.#organizations.set(organizationId, running);
    if (this.#hasRoom(running, keyId)) this.#enter(running, keyId);
    else await this.#wait(running, keyId).finally(() => this.#forgetIdle(organizationId, running));
    const startedMs = this.#clock();
    let release = released;
    try {
      return await work();
    } catch (error) {
      release = undefined;
      throw error;
    } finally {
      const leave = () => this.#leave(organizationId, running, { keyId, startedMs });
      if (release) void release().finally(leave);
      else leave();
    }
  }

  #forgetIdle(organizationId: string, { keys, queue }: Running): void {
    if (keys.length === 0 && queue.length === 0) this.#organizations.delete(organizationId);
  }

  #hasRoom(running: Running, keyId: string): boolean {
    const { ofOrganization, ofKey, inAll, reserved } = this.#most;
    const isOwnFree = running.keys.length < ofOrganization && countOf(running, keyId) < ofKey;
    return isOwnFree && this.#total < (running.keys.length === 0 ? inAll : inAll - reserved);
  }

  /** How long the next in the queue would wait, if the organization gets its share of the slots. */
  #expectedMs({ averageMs, queue }: Running): number {
    const { ofOrganization, inAll } = this.#most;
    const slots = Math.max(1, Math.min(ofOrganization, inAll / this.#organizations.size));
    return (averageMs * (queue.length + 1)) / slots;
  }

  async #wait(running: Running, keyId: string): Promise<void> {
    if (running.queue.length >= this.#most.waiting) throw new Problem('unavailable', { reason: 'busy' });
    await wait(running, keyId, this.#expectedMs(running) > longestWaitMs ? hopelessWaitMs : longestWaitMs);
  }

  #enter(running: Running, keyId: string): void {
    this.#total += 1;
    running.keys.push(keyId);
  }

  #leave(organizationId: string, running: Running, { keyId, startedMs }: { keyId: string; startedMs: number }): void {
    const tookMs = this.#clock() - startedMs;
    running.averageMs += (tookMs - running.averageMs) * (running.averageMs === 0 ? 1 : share);
    this.#total -= 1;
    running.keys.splice(running.keys.indexOf(keyId), 1);
    this.#startNext();
    this.#forgetIdle(organizationId, running);
  }

  /** Of the organizations with a waiting statement that may start, the one that runs the fewest. */
  #startNext(): void {
    let found: { running: Running; next: Waiting } | undefined;
    for (const running of this.#organizations.values()) {
      if (found && running.keys.length >= found.running.keys.length) continue;
      const next = running.queue.find(({ keyId }) => this.#hasRoom(running, keyId));
      if (next) found = { running, next };
    }
    if (!found) return;
    const { running, next } = found;
    running.queue.splice(running.queue.indexOf(next), 1);
    this.#enter(running, next.keyId);
    next.start();
  }
}

/** What organizations share: the operations that run at once, those of them that may be large, and the event loop. */
export type Shares = { work: WorkLimiter; largeWork: WorkLimiter; turns: Turns; rejections: Rejections };

export const createShares = (): Shares => ({
  work: new WorkLimiter(),
  largeWork: new WorkLimiter(large),
  turns: new Turns(),
  rejections: new Rejections(),
});

const countOf = ({ keys }: Running, keyId: string) => keys.filter((one) => one === keyId).length;

async function wait(running: Running, keyId: string, limitMs: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const waiting: Waiting = {
      keyId,
      start() {
        clearTimeout(timer);
        resolve();
      },
    };
    const timer = setTimeout(() => {
      running.queue.splice(running.queue.indexOf(waiting), 1);
      reject(new Problem('unavailable', { reason: 'busy' }));
    }, limitMs);
    running.queue.push(waiting);
  });
}
