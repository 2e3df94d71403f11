/** Cursors: where a page ended, in which order and under which filters; they belong to one organization and one list. */
import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { Problem } from '../problems/problem.ts';

const content = z.strictObject({
  sort: z.string(),
  filters: z.record(z.string(), z.unknown()),
  after: z.tuple([z.string(), z.string()]),
  through: z.string().nullable(),
});
export type CursorContent = z.infer<typeof content>;

/** What a cursor is only good for. */
export type CursorScope = { organizationId: string; list: string };

/** Not a signature: the organization always comes from the key, so that a forged cursor reads nothing new. */
function checksum(json: string, { organizationId, list }: CursorScope): string {
  return hash('sha256', `${organizationId}\n${list}\n${json}`, 'base64url').slice(0, 12);
}

export function writeCursor(cursor: CursorContent, scope: CursorScope): string {
  const json = JSON.stringify([cursor.sort, cursor.filters, cursor.after, cursor.through]);
  return Buffer.from(checksum(json, scope) + json).toString('base64url');
}

const invalid = (): never => {
  const message = 'is not a cursor of this list; start again without it';
  throw new Problem('invalid_cursor', `cursor ${message}.`, {
    errors: [{ in: 'query', field: 'cursor', pointer: null, code: 'invalid_cursor', message }],
  });
};

export function readCursor(text: string, scope: CursorScope): CursorContent {
  const decoded = Buffer.from(text, 'base64url').toString();
  const json = decoded.slice(12);
  // The round trip refuses what the decoder would forgive: padding, other alphabets, stray characters.
  if (Buffer.from(decoded).toString('base64url') !== text || decoded.slice(0, 12) !== checksum(json, scope))
    return invalid();
  const [sort, filters, after, through]: unknown[] = JSON.parse(json);
  const result = content.safeParse({ sort, filters, after, through });
  return result.success ? result.data : invalid();
}

/** Filters and sort may be repeated beside a cursor, or left out; another value is a mistake of the caller. */
export function requireSame(name: string, given: unknown, carried: unknown): void {
  if (given === undefined || isDeepStrictEqual(given, carried)) return;
  const message =
    'differs from what the cursor carries; repeat it unchanged, leave it out, or start again without the cursor';
  throw new Problem('cursor_mismatch', `${name} ${message}.`, {
    errors: [{ in: 'query', field: name, pointer: null, code: 'cursor_mismatch', message }],
  });
}
