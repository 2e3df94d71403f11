/**
 * Every kind of problem, from 400 to 503, by its code. The responses, the examples in the OpenAPI document and the
 * documentation all come from the same row.
 */
import { accessProblems } from './access.ts';
import { recordProblems } from './records.ts';
import { requestProblems } from './requests.ts';
import { serviceProblems } from './service.ts';

export const problemCatalogue = { ...requestProblems, ...accessProblems, ...recordProblems, ...serviceProblems };

/** The kind of problem: the part of a response that a program should decide by. */
export type ProblemCode = keyof typeof problemCatalogue;

// Object.keys forgets that it returns the table's own names.
export const problemCodes: readonly ProblemCode[] = (Object.keys(problemCatalogue) as ProblemCode[]).toSorted(
  (left, right) => problemCatalogue[left].status - problemCatalogue[right].status,
);
