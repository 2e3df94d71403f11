/**
 * Shares the event loop between organizations. Long work runs in slices; the next slice waits for its turn. There is one
 * turn per iteration of the loop, so short work runs between any two. Organizations alternate.
 */
import { Problem } from '../problems/problem.ts';

/** A slice that has taken this long ends. */
const sliceMs = 5;
/** Per organization. */
const mostWaiting = 200;

export type Pause = () => Promise<void> | undefined;

export class EventLoopScheduler {
  readonly #queues = new Map<string, (() => void)[]>();
  readonly #clock: () => number;

  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
  }

  /** Problem: unavailable if too much of its work is waiting. */
  async nextTurn(organizationId: string): Promise<void> {
    const queue = this.#queues.get(organizationId) ?? [];
    if (queue.length >= mostWaiting) throw new Problem('unavailable', { reason: 'busy' });
    if (this.#queues.size === 0) setImmediate(() => this.#next());
    this.#queues.set(organizationId, queue);
    await new Promise<void>((start) => queue.push(start));
  }

  /** Applies `one` to each, in order. The first slice begins immediately, so short work does not wait. */
  async each<From, To>(organizationId: string, from: readonly From[], one: (each: From) => To): Promise<To[]> {
    const done: To[] = [];
    const pause = this.pauses(organizationId);
    for (const each of from) {
      const turn = pause();
      // Even awaiting nothing would cost time for each record.
      if (turn) await turn;
      done.push(one(each));
    }
    return done;
  }

  /** Returns a function to call before each piece of work, which begins now; it waits for a turn if the slice is over. */
  pauses(organizationId: string): Pause {
    let endsAt = this.#clock() + sliceMs;
    return () => {
      if (this.#clock() < endsAt) return undefined;
      return this.nextTurn(organizationId).then(() => void (endsAt = this.#clock() + sliceMs));
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
