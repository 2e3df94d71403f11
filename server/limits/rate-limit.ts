/** An exact sliding window: a request is rejected if and only if `limit` requests were accepted within the last window. */
import { rateLimit } from '../../contract/limits.ts';

export type Allowance = {
  accepted: boolean;
  /** How many more requests the window allows now. */
  remaining: number;
  /** Seconds, rounded up, until the oldest counted request leaves the window. */
  resetSeconds: number;
};

/** `key` is the id of an API key, or a network without one. A rejected request is not counted. */
export type RateLimiter = { take(key: string): Allowance | Promise<Allowance> };

const windowMs = rateLimit.windowSeconds * 1000;

/** When the requests that still count were accepted, in a ring buffer. */
class Window {
  readonly #times = new Float64Array(rateLimit.limit);
  /** The index of the oldest, and how many are counted. */
  #first = 0;
  #counted = 0;

  /** Whether no request still counts. */
  isIdle(nowMs: number): boolean {
    this.#forget(nowMs);
    return this.#counted === 0;
  }

  release(): void {
    if (this.#counted > 0) this.#counted -= 1;
  }

  agesSince(timeMs: number, nowMs: number): number[] {
    this.#forget(nowMs);
    const times = Array.from({ length: this.#counted }, (_, index) => this.#timeOf(index));
    return times.filter((time) => time >= timeMs).map((time) => nowMs - time);
  }

  take(nowMs: number): Allowance {
    this.#forget(nowMs);
    const accepted = this.#counted < rateLimit.limit;
    if (accepted) {
      this.#times[(this.#first + this.#counted) % rateLimit.limit] = nowMs;
      this.#counted += 1;
    }
    const leavesInMs = windowMs - (nowMs - this.#timeOf(0));
    return { accepted, remaining: rateLimit.limit - this.#counted, resetSeconds: Math.ceil(leavesInMs / 1000) };
  }

  #timeOf(index: number): number {
    return this.#times[(this.#first + index) % rateLimit.limit] ?? 0;
  }

  /** Drops what has left the window. */
  #forget(nowMs: number): void {
    while (this.#counted > 0 && nowMs - this.#timeOf(0) >= windowMs) {
      this.#first = (this.#first + 1) % rateLimit.limit;
      this.#counted -= 1;
    }
  }
}

/** For one process: windows in memory, which decide synchronously. `clock` is monotonic, in milliseconds. */
export function memoryRateLimiter(clock: () => number) {
  const windows = new Map<string, Window>();
  let sweptAt = clock();
  return {
    take(key: string): Allowance {
      const nowMs = clock();
      if (nowMs - sweptAt >= windowMs) {
        sweptAt = nowMs;
        for (const [id, window] of windows) if (window.isIdle(nowMs)) windows.delete(id);
      }
      const window = windows.get(key) ?? new Window();
      windows.set(key, window);
      return window.take(nowMs);
    },
    /** Takes back the latest accepted request of the key. */
    release: (key: string): void => windows.get(key)?.release(),
    /** Ages in milliseconds, by key, of the requests accepted since this time that still count. */
    agesSince(timeMs: number): Map<string, number[]> {
      const nowMs = clock();
      const ages = [...windows].map(([key, window]) => [key, window.agesSince(timeMs, nowMs)] as const);
      return new Map(ages.filter(([, found]) => found.length > 0));
    },
  };
}
