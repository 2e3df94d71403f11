/** Checks what a caller sends against the contract's schemas, which run only if there is something to check. */
import type { AppRoute } from '@ts-rest/core';
import { z } from 'zod';
import { missingName } from '../../contract/customer-name.ts';
import { conditionalHeaders } from '../../contract/headers.ts';
import type { ProblemError } from '../../contract/problem.ts';
import { isBlank } from '../../contract/text.ts';
import { bodyOf } from '../../contract/operations.ts';
import { v1 } from '../../contract/v1.ts';
import { invalidRequest } from '../problems/invalid-request.ts';
import { Problem, requestError } from '../problems/problem.ts';

/** What a caller sends. Header names are in lower case; those that the operation does not declare are dropped. */
export type Input = { params?: object; query?: object; headers?: object; body?: unknown };
/** What a handler gets. */
export type Parsed = { params: unknown; query: unknown; headers: unknown; body: unknown };

type Result = { success: boolean; data?: unknown; error?: z.ZodError | undefined };
type Check = (value: unknown) => Result;

export function parserOf(route: AppRoute): (input: Input) => Parsed {
  const checkParams = checking(route.pathParams, namesNothing);
  const checkQuery = checking(route.query, hasNothing);
  const checkHeaders = checking(route.headers, namesNothing);
  const undeclared = conditionalHeaders.filter((name) => !isDeclared(route.headers, name));
  const hasConflicts = isDeclared(route.query, 'onConflict');
  const checkBody = checking(bodyOf(route), () => false);
  return (input) => {
    const params = checkParams(input.params ?? {});
    if (!params.success) throw new Problem('not_found', { record: 'record' });
    const further = ignoredHeaders(undeclared, input.headers ?? {});
    const query = checkQuery(input.query ?? {});
    if (hasConflicts) further.push(...conflictErrors(route, input, query.data ?? input.query));
    const headers = checkHeaders(input.headers ?? {});
    const body = checkBody(input.body);
    if (!query.success || !headers.success || !body.success || further.length > 0) {
      throw invalidRequest(route, input, { query: query.error, headers: headers.error, body: body.error }, further);
    }
    return { params: params.data, query: query.data, headers: headers.data, body: body.data };
  };
}

const isDeclared = (schema: unknown, name: string) =>
  schema instanceof z.ZodObject && Object.hasOwn(schema.shape, name);

/** Conditional headers that would be ignored although the caller relies on them. */
const ignoredHeaders = (names: readonly string[], headers: object): ProblemError[] =>
  names
    .filter((name) => Object.hasOwn(headers, name))
    .map((field) => requestError('header', field, 'is not supported by this operation'));

/**
 * What `onConflict` needs from other parts of the request, which the schema of one part cannot check. `query` is as the
 * handler gets it, because its schema trims the value.
 */
function conflictErrors(route: AppRoute, { headers = {}, body }: Input, query: unknown): ProblemError[] {
  const onConflict: unknown = Reflect.get(Object(query), 'onConflict');
  const externalId: unknown = Reflect.get(Object(body), 'externalId') ?? '';
  const ifMatch: unknown = Reflect.get(headers, 'if-match');
  const errors: ProblemError[] = [];
  const isUpsert = onConflict === 'update' || onConflict === 'return';
  if (isUpsert && isBlank(externalId))
    errors.push(requestError('query', 'onConflict', 'requires an externalId in the body'));
  // `*` is allowed everywhere: it matches any record.
  if (onConflict !== 'update' && typeof ifMatch === 'string' && ifMatch.trim() !== '*')
    errors.push(requestError('header', 'if-match', 'needs onConflict=update: a new record has no ETag to match'));
  // The name of a customer can come from other fields, so the schema does not require it.
  const isUpdate = isUpsert && !isBlank(externalId);
  const isNew = !isUpdate && route === v1.customers.create && Object(body) === body && !Array.isArray(body);
  const missing = isNew ? missingName(body) : undefined;
  return missing ? [...errors, missing] : errors;
}

const unchecked: Check = (data) => ({ success: true, data });

type IsEmpty = (value: object, names: readonly string[]) => boolean;
const hasNothing: IsEmpty = (value) => Object.keys(value).length === 0;
const namesNothing: IsEmpty = (value, names) => !names.some((name) => Object.hasOwn(value, name));

/** The result for empty input is computed once. */
function checking(schema: unknown, isEmpty: IsEmpty): Check {
  if (!(schema instanceof z.ZodType)) return unchecked;
  if (!(schema instanceof z.ZodObject)) return (value) => schema.safeParse(value);
  const names = Object.keys(schema.shape);
  const empty = schema.safeParse({});
  return (value) =>
    typeof value === 'object' && value !== null && isEmpty(value, names) ? empty : schema.safeParse(value);
}
