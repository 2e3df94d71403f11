/** A customer needs some kind of name. */
import type { z } from 'zod';
import type { ProblemError } from './problem.ts';
import { isBlank } from './text.ts';

const nameIsRequired = 'is required if companyName, firstName, lastName, email and phone are all absent';
const named = ['name', 'companyName', 'firstName', 'lastName', 'email', 'phone'] as const;
const isAbsent = (value: unknown) => value === undefined || value === null || isBlank(value);

/** The error for a new customer without any kind of name; undefined if it has one. */
export function missingName(body: unknown): ProblemError | undefined {
  if (named.some((field) => !isAbsent(Reflect.get(Object(body), field)))) return undefined;
  return { in: 'body', field: 'name', pointer: '/name', code: 'required', message: nameIsRequired };
}

/** Only a new record needs a name. A body with an externalId may update a record, so the server checks that case. */
export function requireName<T extends z.ZodType>(schema: T): T {
  return schema.refine((body) => !isAbsent(Reflect.get(Object(body), 'externalId')) || !missingName(body), {
    path: ['name'],
    params: { code: 'required' },
    message: nameIsRequired,
    // Reported together with the errors of individual fields, so one round trip shows everything.
    when: ({ value }) =>
      typeof value === 'object' && value !== null && !Array.isArray(value) && Reflect.get(value, 'name') === undefined,
  });
}
