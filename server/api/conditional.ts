/** Strong ETags over the body as sent, and the two conditional headers of RFC 9110 (13.1). */
import { hash } from 'node:crypto';
import { Problem } from '../problems/problem.ts';

export function etagOf(text: string): string {
  return `"${hash('sha256', text, 'base64url').slice(0, 22)}"`;
}

const tagsOf = (header: string) => header.split(',').map((tag) => tag.trim());

/** If-None-Match compares weakly: an ETag that a cache has weakened still means the same record. */
export function isNotModified(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.trim() === '*' || tagsOf(ifNoneMatch).some((tag) => tag.replace(/^W\//, '') === etag);
}

/** If-Match compares strongly: a weak tag matches nothing. Problem: precondition_failed with the current ETag. */
export function requireMatch(ifMatch: string | undefined, present: () => object): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return;
  const currentEtag = etagOf(JSON.stringify(present()));
  if (tagsOf(ifMatch).includes(currentEtag)) return;
  throw new Problem('precondition_failed', { currentEtag });
}
