/** Slots for concurrent work: in any order of events, the limiter starts and rejects what a plain count would. */
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WorkLimiter } from '../../server/limits/concurrency.ts';
import type { Work } from '../../server/limits/concurrency.ts';

// Small, so short sequences reach every bound.
const inAll = { brief: 4, search: 2, write: 3, large: 0, form: 0 };
const most = { ofKey: 2, ofOrganization: 3, inAll, reserved: 1, waiting: 4 };
const longestWaitMs = 5_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

type Kind = { organization: string; keyId: string; kind: Work; isLarge: boolean };
/** `sending` is done, but keeps its slot until the response is sent. */
type Job = Kind & {
  state: 'waiting' | 'running' | 'sending' | 'sent' | 'rejected';
  waitedMs: number;
  /** The state according to the limiter. */
  seen: 'waiting' | 'started' | 'rejected';
  end: (error?: Error) => void;
  send: () => void;
};

const holdsSlot = ({ state }: Job) => state === 'running' || state === 'sending';
const isWaiting = ({ state }: Job) => state === 'waiting';

/** Whether the bounds leave room for one more of this kind. */
function hasRoom(jobs: readonly Job[], { organization, keyId, kind }: Kind): boolean {
  const holding = jobs.filter(holdsSlot);
  const own = holding.filter((job) => job.organization === organization);
  const more = kind === 'brief' ? 1 : 0;
  return (
    own.length < most.ofOrganization + more &&
    own.filter((job) => job.keyId === keyId).length < most.ofKey + more &&
    holding.filter((job) => job.kind === kind).length < inAll[kind] - (own.length === 0 ? 0 : most.reserved)
  );
}

/** The jobs that may start next when a slot is freed: the first possible one of each organization that runs the fewest. */
function nextOf(jobs: readonly Job[]): Job[] {
  const mayStart = jobs.filter((job) => isWaiting(job) && hasRoom(jobs, job));
  const firsts = mayStart.filter((job) => mayStart.find((one) => one.organization === job.organization) === job);
  const running = ({ organization }: Job) =>
    jobs.filter((job) => holdsSlot(job) && job.organization === organization).length;
  const fewest = Math.min(...firsts.map(running));
  return firsts.filter((job) => running(job) === fewest);
}

/** The limiter, along with a list of everything sent to it. */
class Beside {
  readonly jobs: Job[] = [];
  readonly #limiter = new WorkLimiter(most, () => 0);

  async arrive(sent: Kind): Promise<void> {
    const { jobs } = this;
    const ended = Promise.withResolvers<void>();
    const response = Promise.withResolvers<void>();
    const waiting = jobs.filter((job) => isWaiting(job) && job.organization === sent.organization);
    const otherwise = waiting.length < most.waiting ? 'waiting' : 'rejected';
    const state = hasRoom(jobs, sent) ? 'running' : otherwise;
    const end = (error?: Error) => (error ? ended.reject(error) : ended.resolve());
    const job: Job = { ...sent, state, waitedMs: 0, seen: 'waiting', end, send: response.resolve };
    const work = () => {
      job.seen = 'started';
      return ended.promise;
    };
    const { organization, keyId, kind, isLarge } = sent;
    this.#limiter
      .run(organization, { keyId, kind }, work, isLarge ? () => response.promise : undefined)
      .catch((error: unknown) => {
        const isUnavailable = Reflect.get(Object(error), 'code') === 'unavailable';
        if (job.seen === 'waiting' && isUnavailable) job.seen = 'rejected';
      });
    jobs.push(job);
    await this.#settle();
  }

  /** A running job ends, successfully or not. */
  async end(pick: number, error?: Error): Promise<void> {
    const job = pickOf(this.jobs, pick, ({ state }) => state === 'running');
    if (!job) return;
    job.end(error);
    job.state = job.isLarge && !error ? 'sending' : 'sent';
    await this.#settle(job);
  }

  /** A response is sent, or its client has disconnected. */
  async send(pick: number): Promise<void> {
    const job = pickOf(this.jobs, pick, ({ state }) => state === 'sending');
    if (!job) return;
    job.send();
    job.state = 'sent';
    await this.#settle(job);
  }

  async wait(ms: number): Promise<void> {
    await vi.advanceTimersByTimeAsync(ms);
    for (const job of this.jobs.filter(isWaiting)) {
      job.waitedMs += ms;
      if (job.waitedMs >= longestWaitMs) job.state = 'rejected';
    }
    await this.#settle();
  }

  /** The state of each job according to the limiter, and according to the count. */
  seen = () => this.jobs.map(({ seen }) => seen);
  counted = () =>
    this.jobs.map(({ state }) => (state === 'waiting' || state === 'rejected' ? state : ('started' as const)));

  /** `left`: a job that may have freed a slot. */
  async #settle(left?: Job): Promise<void> {
    await new Promise(setImmediate);
    if (left?.state !== 'sent') return;
    for (let next = nextOf(this.jobs); next.length > 0; next = nextOf(this.jobs)) {
      const started = next.find(({ seen }) => seen === 'started') ?? next[0];
      if (started) started.state = 'running';
    }
  }
}

function pickOf(jobs: readonly Job[], pick: number, which: (job: Job) => boolean): Job | undefined {
  const found = jobs.filter(which);
  return found[pick % found.length];
}

test('an organization without operations takes no share of the slots', async () => {
  let nowMs = 0;
  const limiter = new WorkLimiter(most, () => nowMs);
  const run = (keyId: string, kind: Work, work: () => unknown) =>
    limiter.run(keyId, { keyId, kind }, async () => void (await work()));
  const held = Promise.withResolvers<void>();
  const busy = ['B', 'C'].map((organization) => run(organization, 'search', () => held.promise));
  const gaveUp = Promise.allSettled(['D', 'E'].map((organization) => run(organization, 'search', () => 'never')));
  await vi.advanceTimersByTimeAsync(longestWaitMs);
  expect(await gaveUp).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  held.resolve();
  await Promise.all(busy);
  const own = Promise.withResolvers<void>();
  const first = run('A', 'write', () => own.promise);
  await run('A', 'write', () => (nowMs += 1.5 * longestWaitMs));
  const others = [run('A', 'write', () => own.promise), run('A', 'write', () => 'waits')];
  // One that would wait longer than the limit is rejected after a second.
  await vi.advanceTimersByTimeAsync(longestWaitMs / 2);
  own.resolve();
  await expect(Promise.all([first, ...others])).resolves.toHaveLength(3);
});

const step = fc.record({
  act: fc.constantFrom('arrive', 'arrive', 'arrive', 'end', 'end', 'fail', 'send', 'send', 'wait'),
  organization: fc.constantFrom('A', 'B', 'C'),
  key: fc.constantFrom('a', 'b'),
  kind: fc.constantFrom('brief', 'search', 'write'),
  isLarge: fc.boolean(),
  pick: fc.nat(),
});

test('runs, queues and rejects what a count of the slots says, and frees every slot', async () => {
  const agrees = fc.asyncProperty(fc.array(step, { minLength: 40, maxLength: 120 }), async (steps) => {
    const beside = new Beside();
    for (const { act, organization, key, kind, isLarge, pick } of steps) {
      if (act === 'arrive') await beside.arrive({ organization, keyId: organization + key, kind, isLarge });
      if (act === 'end') await beside.end(pick);
      if (act === 'fail') await beside.end(pick, new Error('lost'));
      if (act === 'send') await beside.send(pick);
      if (act === 'wait') await beside.wait(longestWaitMs / 2);
      expect(beside.seen()).toEqual(beside.counted());
    }
    while (beside.jobs.some(holdsSlot)) {
      await beside.end(0);
      await beside.send(0);
    }
    expect(beside.seen()).toEqual(beside.counted());
    expect(beside.jobs.filter(isWaiting)).toEqual([]);
  });
  await fc.assert(agrees, { numRuns: 100 });
});
