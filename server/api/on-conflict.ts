/** What `onConflict` needs from other parts of a request, which the schema of one part cannot check. */
import type { AppRoute } from '@ts-rest/core';
import { missingName } from '../../contract/customer-name.ts';
import type { ProblemError } from '../../contract/problem.ts';
import { isBlank } from '../../contract/text.ts';
import { v1 } from '../../contract/v1.ts';
import { requestError } from '../problems/problem.ts';

/** The parts of a request, as sent. */
type Sent = { query?: object; headers?: object; body?: unknown };

export function conflictErrors(route: AppRoute, { query = {}, headers = {}, body }: Sent): ProblemError[] {
  const onConflict: unknown = Reflect.get(query, 'onConflict');
  const externalId: unknown = Reflect.get(Object(body), 'externalId') ?? '';
  const ifMatch: unknown = Reflect.get(headers, 'if-match');
  const errors: ProblemError[] = [];
  const isUpsert = onConflict === 'update' || onConflict === 'return';
  if (isUpsert && isBlank(externalId))
    errors.push(requestError('query', 'onConflict', `${onConflict} needs an externalId in the body`));
  // `*` is allowed everywhere: it matches any record.
  if (onConflict !== 'update' && typeof ifMatch === 'string' && ifMatch.trim() !== '*')
    errors.push(requestError('header', 'if-match', 'needs onConflict=update: a new record has no ETag to match'));
  // The name of a customer can come from other fields, so the schema does not require it.
  const isNew = !isUpsert && route === v1.customers.create && Object(body) === body && !Array.isArray(body);
  const missing = isNew ? missingName(body) : undefined;
  return missing ? [...errors, missing] : errors;
}
