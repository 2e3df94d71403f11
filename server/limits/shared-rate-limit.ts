/** One window for all processes while Redis responds; the window of this process always applies as well. */
import { setTimeout as delay } from 'node:timers/promises';
import { ErrorReply } from '@redis/client';
import { connect, whenReady, withTimeout } from './redis-connection.ts';
import { memoryRateLimiter } from './rate-limit.ts';
import type { Allowance, RateLimiter } from './rate-limit.ts';
import { addToRedis, epochOf, removeFromRedis, StoreEmptied, takeFromRedis } from './redis-rate-limit.ts';
import { messageOf } from '../problems/message-of.ts';

type Options = {
  url: string;
  /** Monotonic, in milliseconds; for the window of this process. */
  clock: () => number;
  /** Called with a message when the shared window becomes unavailable, and when it is available again. */
  onChange: (sentence: string, reason?: string) => void;
};

/** A store that is slower than this counts as unavailable. On a busy machine, a pause of 100 ms is not an outage. */
const timeoutMs = 500;
const addingTimeoutMs = 5_000;
/** Pauses between attempts to use the store again; the last one repeats. */
const retriesMs = [1_000, 1_000, 2_000, 5_000];
/** How often a store in use is asked whether it still has its data. */
const checkMs = 250;
/** Within this time, every process notices that the store has lost its data, and adds what it accepted. */
const restoredMs = 2 * checkMs;
/** Errors that concern the whole store; any other concerns what is stored for one key. */
const storeWide = /^(?:OOM|MISCONF|READONLY|LOADING|NOREPLICAS|CLUSTERDOWN|MASTERDOWN|NOPERM|NOAUTH|BUSY)/;

/** Connects in the background after a first attempt: the service starts, and serves, without the store. */
export async function sharedRateLimiter(options: Options): Promise<SharedRateLimiter> {
  const limiter = new SharedRateLimiter(options);
  await limiter.begin();
  return limiter;
}

export class SharedRateLimiter implements RateLimiter {
  readonly #options: Options;
  readonly #local;
  #client;
  #epoch = '';
  /** Until the first attempt fails. */
  #isShared = true;
  #isClosed = false;
  /** Whether the store itself has said why it is not in use; a lost connection does not. */
  #isExplained = false;
  #fallbacks = 0;
  #attempts = 0;
  /** Resolves once a store that had lost its data knows again what was accepted, or is out of use. */
  #restoring: Promise<void> | undefined;
  /** The store does not know what this process accepted from this time on. */
  #unknownSinceMs = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: Options) {
    this.#options = options;
    this.#local = memoryRateLimiter(options.clock);
    this.#client = connect(options.url);
  }

  async begin(): Promise<void> {
    try {
      await this.#join();
      this.#later(() => this.#check(), checkMs);
    } catch (error) {
      this.#leave(error);
    }
  }

  /** Accepted if both windows accept: a store that comes back empty would admit too many. */
  async take(key: string): Promise<Allowance> {
    if (!this.#isShared) await this.#restoring;
    const takenAtMs = this.#options.clock();
    const own = this.#local.take(key);
    if (!own.accepted) return own;
    if (this.#isShared) {
      try {
        const shared = await withTimeout(takeFromRedis(this.#client, key, { epoch: this.#epoch }), timeoutMs);
        if (!shared.accepted) this.#local.release(key);
        return { ...shared, remaining: Math.min(own.remaining, shared.remaining) };
      } catch (error) {
        if (error instanceof StoreEmptied) {
          this.#local.release(key);
          this.#leave(error);
          return await this.take(key);
        }
        const isOfKey = error instanceof ErrorReply && !storeWide.test(error.message);
        if (isOfKey) void this.#resetWindow(key, error, takenAtMs);
        else this.#leave(error, takenAtMs);
      }
    }
    this.#unknownSinceMs = Math.min(this.#unknownSinceMs, takenAtMs);
    this.#fallbacks += 1;
    return own;
  }

  /** Whether the shared window is in use, and how many requests were limited by this process alone. */
  status = () => ({ shared: this.#isShared, fallbacks: this.#fallbacks });

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    if (this.#client.isOpen) this.#client.destroy();
  }

  #leave(error: unknown, sinceMs = this.#options.clock()): void {
    if (!this.#isShared || this.#isClosed) return;
    this.#isShared = false;
    this.#isExplained = error instanceof ErrorReply;
    this.#unknownSinceMs = sinceMs;
    const isEmptied = error instanceof StoreEmptied;
    const sentence = isEmptied
      ? 'The rate limit store has lost its data: this process restores what it knows.'
      : 'The rate limit store is unreachable or slow: this process enforces the limit on its own until the store is back.';
    this.#options.onChange(sentence, messageOf(error));
    if (isEmptied) this.#restoring = this.#probe(restoredMs);
    else this.#later(() => this.#probe(), retriesMs[0]);
  }

  async #check(): Promise<void> {
    try {
      const epoch = await withTimeout(epochOf(this.#client), timeoutMs);
      if (epoch !== this.#epoch) throw new StoreEmptied('the store has lost its data');
      // If a request gave up on the store in the meantime, the timer belongs to the next probe.
      if (this.#isShared) this.#later(() => this.#check(), checkMs);
    } catch (error) {
      this.#leave(error);
    }
  }

  async #probe(waitMs = 0): Promise<void> {
    try {
      await this.#join();
      if (waitMs > 0) await delay(waitMs, undefined, { ref: false });
      if (this.#isClosed) return;
      this.#attempts = 0;
      this.#isShared = true;
      this.#unknownSinceMs = Number.POSITIVE_INFINITY;
      this.#options.onChange('The rate limit store is back: all processes share the limit again.');
      this.#later(() => this.#check(), checkMs);
    } catch (error) {
      if (!this.#isExplained && error instanceof ErrorReply && !error.message.startsWith('LOADING')) {
        this.#isExplained = true;
        this.#options.onChange('The rate limit store rejects this process.', messageOf(error));
      }
      // A connection that was lost silently never recovers, so each attempt opens a new one.
      if (this.#client.isOpen) this.#client.destroy();
      if (this.#isClosed) return;
      this.#client = connect(this.#options.url);
      this.#attempts += 1;
      this.#later(() => this.#probe(), retriesMs[this.#attempts] ?? retriesMs.at(-1));
    }
  }

  /** Resolves once the store is usable, and knows the requests that this process accepted without it. */
  async #join(): Promise<void> {
    // A store without TLS does not respond to a TLS handshake.
    const connection = this.#options.url.startsWith('rediss:') ? 'TLS connection' : 'connection';
    const epoch = await withTimeout(
      whenReady(this.#client).then(() => epochOf(this.#client)),
      timeoutMs,
      () => (this.#client.isReady ? 'response' : connection),
    );
    if (epoch !== this.#epoch) this.#unknownSinceMs = Number.NEGATIVE_INFINITY;
    this.#epoch = epoch;
    // A store that does not let this account run scripts still has an epoch.
    await withTimeout(takeFromRedis(this.#client, 'probe', { epoch }), timeoutMs);
    await withTimeout(this.#addOwnRequests(epoch), addingTimeoutMs);
  }

  async #addOwnRequests(epoch: string): Promise<void> {
    // Requests keep arriving: each pass adds those that were accepted during the one before.
    for (let passes = 0, sinceMs = this.#unknownSinceMs; passes < 10; passes += 1) {
      const nextMs = this.#options.clock();
      const ages = this.#local.agesSince(sinceMs);
      if (ages.size === 0) return;
      await Promise.all([...ages].map(([key, agesMs]) => addToRedis(this.#client, key, epoch, agesMs)));
      sinceMs = nextMs;
    }
  }

  /** What is stored for the key is not a window; the store itself is fine, unless it rejects a new window as well. */
  async #resetWindow(key: string, error: ErrorReply, takenAtMs: number): Promise<void> {
    this.#options.onChange('A key in the rate limit store held something other than a window.', messageOf(error));
    const epoch = this.#epoch;
    await removeFromRedis(this.#client, key, epoch)
      .then(() => {
        const agesMs = this.#local.agesSince(Number.NEGATIVE_INFINITY).get(key) ?? [];
        return addToRedis(this.#client, key, epoch, agesMs);
      })
      .catch((failure: unknown) => this.#leave(failure, takenAtMs));
  }

  #later(work: () => Promise<void>, ms: number | undefined): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void work(), ms);
    this.#timer.unref();
  }
}
