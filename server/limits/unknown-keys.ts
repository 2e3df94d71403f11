/** Limits unknown keys per network, because each costs a statement. It never affects callers with a valid key. */
import { isIPv6 } from 'node:net';
import { rateLimit } from '../../contract/limits.ts';

const windowMs = rateLimit.windowSeconds * 1000;
const capacity = 10_000;

export class UnknownKeys {
  readonly #clock: () => number;
  readonly #counts = new Map<string, { count: number; endsAtMs: number }>();

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Whether this network has sent as many unknown keys within a window as a key may send requests. */
  isOver(ipAddress: string): boolean {
    const found = this.#counts.get(networkOf(ipAddress));
    return found !== undefined && found.endsAtMs > this.#clock() && found.count >= rateLimit.limit;
  }

  count(ipAddress: string): void {
    const network = networkOf(ipAddress);
    const nowMs = this.#clock();
    const found = this.#counts.get(network);
    if (found && found.endsAtMs > nowMs) {
      found.count += 1;
      return;
    }
    if (this.#counts.size >= capacity) this.#counts.clear();
    this.#counts.set(network, { count: 1, endsAtMs: nowMs + windowMs });
  }
}

/** One household is one network: the first 64 bits of an IPv6 address. */
export function networkOf(ipAddress: string): string {
  if (!isIPv6(ipAddress)) return ipAddress;
  const [head = '', tail] = ipAddress.toLowerCase().split('::');
  const front = head.split(':').filter(Boolean);
  const back = tail?.split(':').filter(Boolean) ?? [];
  const zeros = Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => '0');
  return [...front, ...zeros, ...back].slice(0, 4).join(':');
}
