/** A customer needs some kind of name. */
import type { ProblemError } from './problem.ts';
import { isBlank } from './text.ts';

const named = ['name', 'companyName', 'firstName', 'lastName', 'email', 'phone'] as const;
const isAbsent = (value: unknown) => value === undefined || value === null || isBlank(value);

/**
 * The error for a new customer without any kind of name; undefined if it has one. Not a rule of the schema: a body with an
 * externalId may update a customer that has a name.
 */
export function missingName(body: unknown): ProblemError | undefined {
  if (named.some((field) => !isAbsent(Reflect.get(Object(body), field)))) return undefined;
  const message = 'is required if companyName, firstName, lastName, email and phone are all absent';
  return { in: 'body', field: 'name', pointer: '/name', code: 'required', message };
}
