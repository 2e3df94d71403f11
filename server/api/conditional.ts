/** The two conditional headers of RFC 9110 (13.1). An ETag names a record's version, so `W/` makes no difference. */
import { entityTagsIn } from '../../contract/headers.ts';
import { Problem } from '../problems/problem.ts';

function listsEtag(header: string, etag: string): boolean {
  const tags = entityTagsIn(header);
  return tags === '*' || Boolean(tags?.includes(etag));
}

/** A malformed If-None-Match is ignored. */
export const isNotModified = (ifNoneMatch: string | undefined, etag: string | undefined): boolean =>
  ifNoneMatch !== undefined && etag !== undefined && listsEtag(ifNoneMatch, etag);

/** Problem: precondition_failed, with the current ETag. */
export function requireMatch(ifMatch: string | undefined, etagOfRecord: () => string): void {
  if (ifMatch === undefined) return;
  const currentEtag = etagOfRecord();
  if (listsEtag(ifMatch, currentEtag)) return;
  throw new Problem('precondition_failed', { currentEtag });
}
