/** Limits the concurrent statements of a key and of an organization: its further ones queue, without delaying others. */
import { Problem } from '../problems/problem.ts';

const most = { ofKey: 3, ofOrganization: 5 };
const longestWaitMs = 5_000;

type Waiting = { keyId: string; start: () => void };
type Running = { total: number; ofKey: Map<string, number>; queue: Waiting[] };

export class StatementLimiter {
  readonly #organizations = new Map<string, Running>();

  /** Runs `work` once a slot is free. Problem: unavailable after 5 seconds in the queue. */
  async run<T>(organizationId: string, keyId: string, work: () => Promise<T>): Promise<T> {
    const running = this.#organizations.get(organizationId) ?? {
      total: 0,
      ofKey: new Map<string, number>(),
      queue: [],
    };
    this.#organizations.set(organizationId, running);
    if (hasRoom(running, keyId)) enter(running, keyId);
    else await wait(running, keyId);
    try {
      return await work();
    } finally {
      leave(running, keyId);
      if (running.total === 0 && running.queue.length === 0) this.#organizations.delete(organizationId);
    }
  }
}

const countOf = ({ ofKey }: Running, keyId: string) => ofKey.get(keyId) ?? 0;
const hasRoom = (running: Running, keyId: string) =>
  running.total < most.ofOrganization && countOf(running, keyId) < most.ofKey;

function enter(running: Running, keyId: string): void {
  running.total += 1;
  running.ofKey.set(keyId, countOf(running, keyId) + 1);
}

/** Gives a free slot to the first entry in the queue that may use it. */
function leave(running: Running, keyId: string): void {
  running.total -= 1;
  const left = countOf(running, keyId) - 1;
  if (left > 0) running.ofKey.set(keyId, left);
  else running.ofKey.delete(keyId);
  const next = running.queue.find((waiting) => hasRoom(running, waiting.keyId));
  if (!next) return;
  running.queue.splice(running.queue.indexOf(next), 1);
  enter(running, next.keyId);
  next.start();
}

function wait(running: Running, keyId: string): Promise<void> {
  return new Promise((resolve, reject) => {
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
    }, longestWaitMs);
    running.queue.push(waiting);
  });
}
