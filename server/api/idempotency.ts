/** Idempotency-Key: what makes two requests the same, and what a repeat gets. */
import { createHash } from 'node:crypto';
import { Problem } from '../problems/problem.ts';
import type { Claim, StoredResponse } from '../records/idempotency.ts';
import { replay } from './reply.ts';
import type { Reply } from './reply.ts';

export const claimOf = (operation: string, key: string, request: unknown): Claim => ({
  operation,
  key,
  fingerprint: createHash('sha256').update(canonical(request)).digest('hex'),
});

export const stillRunning = () => new Problem('idempotency_in_progress');

/** The stored response, byte for byte. Problem: idempotency_key_reused if it belongs to a different request. */
export function replayed<Body>(stored: StoredResponse, { fingerprint }: Claim): Reply<201, Body> | Reply<200, Body> {
  if (stored.fingerprint !== fingerprint) {
    throw new Problem('idempotency_key_reused');
  }
  const { status, location, body, createdAt } = stored;
  // A new record is stored without its times, which are the key's own: see insertOnce().
  if (status === 201) return replay<201, Body>(201, withTimes(body, createdAt), location);
  return replay<200, Body>(200, body, location);
}

/** The times come last in the body of every record. */
export const withoutTimes = (text: string): string => text.replace(/,"createdAt":"[^"]*","updatedAt":"[^"]*"\}$/, '}');

const withTimes = (text: string, at: string): string => `${text.slice(0, -1)},"createdAt":"${at}","updatedAt":"${at}"}`;

/** JSON with sorted keys: formatting and key order of a body do not matter, only its content. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    const isObject = typeof part === 'object' && part !== null && !Array.isArray(part);
    return isObject
      ? Object.fromEntries(Object.entries(part).toSorted(([left], [right]) => (left < right ? -1 : 1)))
      : part;
  });
}
