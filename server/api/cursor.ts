/** Cursors: where a page ended, its sort and its filters. A cursor is valid for one organization and one list. */
import { deflateSync, inflateSync } from 'node:zlib';
import { z } from 'zod';
import { longestCursor } from '../../contract/list.ts';
import { Problem } from '../problems/problem.ts';
import { isSigned, sign } from '../text/signatures.ts';
import type { Secret } from '../text/signatures.ts';

export type CursorContent = {
  /** Values of the ordering property and the id of the last record. */
  after: readonly [string, string];
  /** The rest of the query, as the contract's schema parsed it, without defaults. */
  query: Record<string, unknown>;
  /** The bound of a sync, read before its first page. */
  through: string | null;
};

/** What a cursor is limited to, and the secret that signs it. */
export type CursorScope = { organizationId: string; list: string; secret: Secret };

const macBytes = 12;
/** Bytes of JSON that fit, as base64. A hundred ids and long filters take more, and are compressed. */
const mostBytes = (longestCursor * 3) / 4 - macBytes;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const parts = z.tuple([
  z.string().max(1000),
  z.string().regex(uuid),
  z.record(z.string(), z.unknown()).optional(),
  z.string().max(30).optional(),
]);

const signedText = (payload: Buffer, { organizationId, list }: CursorScope): Buffer =>
  Buffer.concat([Buffer.from(`cursor ${organizationId} ${list}\n`), payload]);

/** As short as possible: defaults and absent values are left out. */
export function writeCursor({ after, query, through }: CursorContent, scope: CursorScope): string {
  const isPlain = through === null && Object.keys(query).length === 0;
  const rest = through === null ? [query] : [query, through];
  const plain = Buffer.from(JSON.stringify(isPlain ? after : [...after, ...rest]));
  const payload = plain.length > mostBytes ? deflateSync(plain) : plain;
  const signature = sign(scope.secret, signedText(payload, scope)).subarray(0, macBytes);
  return Buffer.concat([signature, payload]).toString('base64url');
}

export const invalidCursor = () => new Problem('invalid_cursor');

/** Problem: invalid_cursor if this service did not issue it for this list and organization. */
export function readCursor(text: string, scope: CursorScope): CursorContent {
  const bytes = Buffer.from(text, 'base64url');
  const [signature, payload] = [bytes.subarray(0, macBytes), bytes.subarray(macBytes)];
  // The round trip rejects what the decoder would accept: padding, other alphabets, stray characters.
  const isWhole = bytes.toString('base64url') === text;
  if (!isWhole || !isSigned(scope.secret, signedText(payload, scope), signature, macBytes)) throw invalidCursor();
  const plain = payload[0] === '['.charCodeAt(0) ? payload : inflateSync(payload);
  const result = parts.safeParse(JSON.parse(plain.toString()));
  if (!result.success) throw invalidCursor();
  const [value, id, query = {}, through = null] = result.data;
  return { after: [value, id], query, through };
}
