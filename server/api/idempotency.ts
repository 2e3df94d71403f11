/** Idempotency-Key: what makes two requests the same, and what a repeat gets. */
import { hash } from 'node:crypto';
import { Problem } from '../problems/problem.ts';
import { etagOf } from '../records/etag.ts';
import type { Claim, StoredResponse } from '../records/idempotency.ts';
import type { Version } from '../records/writer.ts';
import { canonicalJson } from '../text/canonical-json.ts';
import { record } from './reply.ts';
import type { Reply } from './reply.ts';

export const claimOf = (operation: string, key: string, request: unknown): Claim => ({
  operation,
  key,
  fingerprint: hash('sha256', canonicalJson(request), 'hex'),
});

/** A response is stored in the statement that stores the record, before the database has set its version. */
export const unsetVersion: Version = { createdAt: '', updatedAt: '', revision: 1 };

/** The stored response, byte for byte. Problem: idempotency_key_reused if it belongs to a different request. */
export function replayResponse<Body extends { etag: string }>(
  { status, location, body, createdAt, ...stored }: StoredResponse,
  { fingerprint }: Claim,
): Reply<201, Body> | Reply<200, Body> {
  if (stored.fingerprint !== fingerprint) throw new Problem('idempotency_key_reused');
  // Stored by the same operation, so it has this type.
  const shown = JSON.parse(body) as Body;
  if (status === 200) return { ...record(shown), replayed: true };
  // A new record and its key are stored at the same time.
  const version = { createdAt, updatedAt: createdAt, etag: etagOf({ ...unsetVersion, updatedAt: createdAt }) };
  return { ...record({ ...shown, ...version }), status: 201, replayed: true, ...(location !== null && { location }) };
}
