/** The exact sliding window: a request is rejected if and only if `limit` were accepted within the last window. */
import { rateLimit } from '../../contract/limits.ts';

export type Allowance = {
  accepted: boolean;
  /** How many more requests the window allows now. */
  remaining: number;
  /** Seconds, rounded up, until the oldest counted request leaves the window. */
  resetSeconds: number;
};

/** `key` is the id of an API key. A rejected request is not counted. */
export type RateLimiter = { take(key: string): Allowance | Promise<Allowance> };

const windowMs = rateLimit.windowSeconds * 1000;

/** When each of the last `limit` accepted requests came in: the oldest is the one that the next would replace. */
class Window {
  readonly #times = new Float64Array(rateLimit.limit).fill(Number.NEGATIVE_INFINITY);
  #next = 0;
  latest = Number.NEGATIVE_INFINITY;

  release(): void {
    this.#next = (this.#next - 1 + rateLimit.limit) % rateLimit.limit;
    this.#times[this.#next] = Number.NEGATIVE_INFINITY;
  }

  agesSince(timeMs: number, nowMs: number): number[] {
    return [...this.#times].filter((time) => time >= timeMs && nowMs - time < windowMs).map((time) => nowMs - time);
  }

  take(nowMs: number): Allowance {
    const accepted = nowMs - (this.#times[this.#next] ?? 0) >= windowMs;
    if (accepted) {
      this.#times[this.#next] = nowMs;
      this.#next = (this.#next + 1) % rateLimit.limit;
      this.latest = nowMs;
    }
    let counted = 0;
    let oldest = nowMs;
    // From newest to oldest, so that the walk ends at the first that has left the window.
    for (let back = 1; back <= rateLimit.limit; back += 1) {
      const time = this.#times[(this.#next - back + rateLimit.limit) % rateLimit.limit] ?? Number.NEGATIVE_INFINITY;
      if (nowMs - time >= windowMs) break;
      counted += 1;
      oldest = time;
    }
    return {
      accepted,
      remaining: rateLimit.limit - counted,
      resetSeconds: Math.ceil((windowMs - (nowMs - oldest)) / 1000),
    };
  }
}

/** Windows in memory. What they take at a moment is decided in that moment. */
export type LocalRateLimiter = {
  take(key: string): Allowance;
  /** Takes the latest accepted request of the key back. */
  release(key: string): void;
  /** How long ago requests were accepted, by key, in milliseconds: those from this time on that are still counted. */
  agesSince(timeMs: number): Map<string, number[]>;
};

/** For one process. `clock` is monotonic, in milliseconds. */
export function memoryRateLimiter(clock: () => number): LocalRateLimiter {
  const windows = new Map<string, Window>();
  let sweptAt = clock();
  return {
    take(key) {
      const nowMs = clock();
      if (nowMs - sweptAt >= windowMs) {
        sweptAt = nowMs;
        for (const [id, window] of windows) if (nowMs - window.latest >= windowMs) windows.delete(id);
      }
      const window = windows.get(key) ?? new Window();
      windows.set(key, window);
      return window.take(nowMs);
    },
    release: (key) => windows.get(key)?.release(),
    agesSince(timeMs) {
      const nowMs = clock();
      const ages = [...windows].map(([key, window]) => [key, window.agesSince(timeMs, nowMs)] as const);
      return new Map(ages.filter(([, found]) => found.length > 0));
    },
  };
}
