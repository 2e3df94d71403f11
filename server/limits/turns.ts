/**
 * Shares the event loop between organizations. Long work runs in slices; the next slice waits for its turn, of which there
 * is one each time around the loop, so that whatever is short runs between any two. Organizations alternate.
 */
import { Problem } from '../problems/problem.ts';

/** A slice that has taken this long ends. */
const sliceMs = 5;
/** For one organization. */
const mostWaiting = 200;

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
    let endsAt = this.#clock() + sliceMs;
    for (const each of from) {
      if (this.#clock() >= endsAt) {
        await this.take(organizationId);
        endsAt = this.#clock() + sliceMs;
      }
      done.push(one(each));
    }
    return done;
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
