/**
 * Delays rejections of a key that keeps sending although it is told to wait: otherwise, a few connections with one key
 * could keep the process busy with nothing but rejections.
 */
const windowMs = 60_000;
/** Rejections per key and window without a delay: a loop that ignores Retry-After is not slowed down, a flood is. */
const sentAtOnce = 1_000;
const heldMs = 1_000;
/** Of all keys, at a time; any beyond this are sent immediately, so those held take little memory. */
const mostHeld = 2_000;
/** Those that tell a caller to wait, rather than what is wrong. */
const statuses: ReadonlySet<number> = new Set([429, 503]);

export class Rejections {
  /** By key, since the window began. */
  readonly #counts = new Map<string, number>();
  readonly #clock: () => number;
  #windowStart: number;
  #held = 0;

  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
    this.#windowStart = clock();
  }

  /** Resolves when the response may be sent; undefined if that is now. */
  hold(key: string | undefined, status: number): Promise<void> | undefined {
    if (key === undefined || !statuses.has(status)) return undefined;
    const nowMs = this.#clock();
    if (nowMs - this.#windowStart >= windowMs) {
      this.#windowStart = nowMs;
      this.#counts.clear();
    }
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return count > sentAtOnce && this.#held < mostHeld ? this.#wait() : undefined;
  }

  async #wait(): Promise<void> {
    this.#held += 1;
    await new Promise((resolve) => setTimeout(resolve, heldMs));
    this.#held -= 1;
  }
}
