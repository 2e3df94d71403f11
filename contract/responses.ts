/** The failures that an operation can answer with, by status. */
import { ContractNoBody, type ContractNoBodyType } from '@ts-rest/core';
import { problem } from './problem.ts';
import type { problemCatalogue } from './problems/catalogue.ts';

type Status = (typeof problemCatalogue)[keyof typeof problemCatalogue]['status'];

/** The given statuses, each answered with a problem. */
export function problems<const S extends Status>(...statuses: S[]): Record<S, typeof problem> {
  // Object.fromEntries forgets its keys' type.
  return Object.fromEntries(statuses.map((status) => [status, problem])) as Record<S, typeof problem>;
}

/** What any operation can answer with, because it happens before the operation is reached. */
export const commonProblems = problems(400, 401, 403, 408, 429, 431, 500, 503);

/** 304: what the caller has is what there is. */
export const notModified: ContractNoBodyType = ContractNoBody;
