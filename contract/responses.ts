/** The problems that an operation can respond with, by status. */
import { problem } from './problem.ts';
import type { problemCatalog } from './problems/catalog.ts';

type Status = (typeof problemCatalog)[keyof typeof problemCatalog]['status'];

/** The given statuses, each with a problem as its body. */
export function problems<const S extends Status>(...statuses: S[]): Record<S, typeof problem> {
  // Object.fromEntries forgets its keys' type.
  return Object.fromEntries(statuses.map((status) => [status, problem])) as Record<S, typeof problem>;
}

/** Every operation can respond with these, because they happen before the operation is reached. */
export const commonProblems = problems(400, 401, 403, 408, 429, 431, 500, 501, 503);
