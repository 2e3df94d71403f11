import { rateLimit } from '../../contract/limits.ts';
import type { Allowance } from '../limits/rate-limit.ts';

const { limit, windowSeconds } = rateLimit;

/** The IETF draft's two fields, and the three older ones. */
export function limitHeaders({
  remaining,
  resetSeconds,
}: Pick<Allowance, 'remaining' | 'resetSeconds'>): Record<string, string> {
  return {
    'RateLimit-Policy': `"default";q=${limit};w=${windowSeconds}`,
    RateLimit: `"default";r=${remaining};t=${resetSeconds}`,
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': String(remaining),
    'X-RateLimit-Reset': String(resetSeconds),
  };
}
