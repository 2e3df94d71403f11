/**
 * Every kind of problem, from 400 to 503, by its code. The responses, the examples in the OpenAPI document and the
 * documentation all come from the same row.
 */
import { accessProblems } from './access.ts';
import { recordProblems } from './records.ts';
import { requestProblems } from './requests.ts';
import { serviceProblems } from './service.ts';

export const problemCatalog = { ...requestProblems, ...accessProblems, ...recordProblems, ...serviceProblems };

/** The kind of problem: the part of a response that a program should branch on. */
export type ProblemCode = keyof typeof problemCatalog;

// Object.keys forgets that it returns the table's own names.
export const problemCodes: readonly ProblemCode[] = (Object.keys(problemCatalog) as ProblemCode[]).toSorted(
  (left, right) => problemCatalog[left].status - problemCatalog[right].status,
);
