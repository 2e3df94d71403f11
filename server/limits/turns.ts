/**
 * Shares the event loop between organizations. Long work runs in slices; the next slice waits for its turn, of which there
 * is one each time around the loop, so that whatever is short runs between any two. Organizations alternate.
 */
import { Problem } from '../problems/problem.ts';

/** A slice that has taken this long ends. */
const sliceMs = 5;
/** For one organization. */
const mostWaiting = 200;

export type Pause = () => Promise<void> | undefined;

export class Turns {
  readonly #queues = new Map<string, (() => void)[]>();
  readonly #clock: () => number;

  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
  }

  /** Problem: unavailable where too many of the organization wait. */
  async take(organizationId: string): Promise<void> {
    const queue = this.#queues.get(organizationId) ?? [];
    if (queue.length >= mostWaiting) throw new Problem('unavailable', { reason: 'busy' });
    if (this.#queues.size === 0) setImmediate(() => this.#next());
    this.#queues.set(organizationId, queue);
    await new Promise<void>((start) => queue.push(start));
  }

  /** `one` of each, in order. The first slice begins at once: short work waits for nothing. */
  async each<From, To>(organizationId: string, from: readonly From[], one: (each: From) => To): Promise<To[]> {
    const done: To[] = [];
    const pause = this.pauses(organizationId);
    for (const each of from) {
      const turn = pause();
      // Even an await of nothing would cost each record.
      if (turn) await turn;
      done.push(one(each));
    }
    return done;
  }

  /** Called before each piece of long work, which begins now: waits for a turn where the slice is over. */
  pauses(organizationId: string): Pause {
    let endsAt = this.#clock() + sliceMs;
    return () => {
      if (this.#clock() < endsAt) return undefined;
      return this.take(organizationId).then(() => void (endsAt = this.#clock() + sliceMs));
    };
  }

  #next(): void {
    const [first] = this.#queues;
    if (!first) return;
    const [organizationId, queue] = first;
    // To the end of the line, behind every other organization.
    this.#queues.delete(organizationId);
    const start = queue.shift();
    if (queue.length > 0) this.#queues.set(organizationId, queue);
    if (this.#queues.size > 0) setImmediate(() => this.#next());
    start?.();
  }
}
