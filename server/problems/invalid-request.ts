/** What the contract's schemas report → the entries of a problem: where, which field, which code, and what to do. */
import type { RequestValidationError } from '@ts-rest/express';
import { z } from 'zod';
import { nearest } from '../../contract/nearest.ts';
import type { FieldCode, ProblemCode, ProblemError } from '../../contract/problem.ts';

type Issue = z.core.$ZodIssue;
type Place = ProblemError['in'];
/** What a refused request held, and the schemas that know what it could have held. */
type Request = { query?: unknown; body?: unknown; querySchema?: unknown; bodySchema?: unknown; recordSchema?: unknown };
const requests = new WeakMap<RequestValidationError, Request>();

/** Remembers the request that was refused; `tsRestRoute` is its operation. */
export function attachRequest(error: RequestValidationError, request: { query: unknown; body: unknown }): void {
  const route = Object(Reflect.get(request, 'tsRestRoute'));
  const responses = Object(Reflect.get(route, 'responses'));
  requests.set(error, {
    query: request.query,
    body: request.body,
    querySchema: Reflect.get(route, 'query'),
    bodySchema: Reflect.get(route, 'body'),
    recordSchema: Reflect.get(responses, '201') ?? Reflect.get(responses, '200'),
  });
}

const longest = 100;
/** Never a key, never a long value: a name that was sent is shown cut, with anything that looks like a key blotted out. */
const shown = (name: string) => {
  const blotted = name.replaceAll(/ak_live_[0-9a-z]+/gi, 'ak_live_…').replaceAll(/[\p{Cc}\p{Cs}]/gu, '\uFFFD');
  return blotted.length > longest ? `${blotted.slice(0, longest - 1)}…` : blotted;
};

export function describeInvalidRequest(error: RequestValidationError): { code: ProblemCode; errors: ProblemError[] } {
  const request = requests.get(error) ?? {};
  const query = issuesOf(error.query).flatMap((issue) => describe(issue, 'query', request));
  const order = Object.keys(Object(request.query));
  query.sort((left, right) => order.indexOf(left.field) - order.indexOf(right.field));
  const headers = issuesOf(error.headers).flatMap((issue) => describe(issue, 'header', request));
  const body = issuesOf(error.body).flatMap((issue) => describe(issue, 'body', request));
  const code = query[0]?.code ?? headers[0]?.code ?? 'validation_failed';
  // The codes of query and header entries are problem codes: see `describe`.
  return { code: code as ProblemCode, errors: [...query, ...headers, ...body] };
}

/** The same of a record that came in another way than as a request, such as a row of an import. */
export function describeInvalidBody(
  issues: readonly Issue[],
  request: Pick<Request, 'body' | 'bodySchema' | 'recordSchema'>,
): ProblemError[] {
  return issues.flatMap((issue) => describe(issue, 'body', request));
}

const issuesOf = (error: unknown): readonly Issue[] =>
  typeof error === 'object' && error !== null && 'issues' in error ? (error.issues as readonly Issue[]) : [];

function describe(issue: Issue, place: Place, request: Request): ProblemError[] {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownName(key, path, place, request));
  const { code, message, suggestion } = explain(
    issue,
    issue.input ?? valueAt(place === 'body' ? request.body : request.query, path),
  );
  if (place === 'body') return [entry(place, path, code, message, suggestion)];
  return [entry(place, path, outsideBody(place, code, message), message, suggestion)];
}

/** Outside the body an entry has the code of its problem. */
function outsideBody(place: Place, code: FieldCode, message: string): ProblemCode {
  if (place === 'header') return 'invalid_header';
  return code === 'too_many_items' && message.startsWith('must be given once')
    ? 'duplicate_parameter'
    : 'invalid_parameter';
}

function entry(place: Place, path: string[], code: string, message: string, suggestion?: string): ProblemError {
  const names = path.map(shown);
  const field = place === 'query' && names.length > 1 ? `${names[0]}[${names.slice(1).join('.')}]` : names.join('.');
  const pointer =
    place === 'body' ? names.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('') : null;
  return { in: place, field, pointer, code, message, ...(suggestion && { suggestion: shown(suggestion) }) };
}

function unknownName(key: string, path: string[], place: Place, request: Request): ProblemError {
  if (place !== 'body') {
    const suggestion = nearest(key.replace(/\[.*$/, ''), namesAt(request.querySchema, []));
    return entry(place, [key], 'unknown_parameter', 'is not a parameter of this operation', suggestion);
  }
  const readOnly = path.length === 0 && namesAt(request.recordSchema, []).includes(key);
  if (readOnly) return entry(place, [key], 'read_only_field', 'is set by the server and cannot be given');
  return entry(
    place,
    [...path, key],
    'unknown_field',
    'is not a field of this record',
    nearest(key, namesAt(request.bodySchema, path)),
  );
}

type Explained = { code: FieldCode; message: string; suggestion?: string | undefined };

function explain(issue: Issue, input: unknown): Explained {
  if (issue.code === 'custom') {
    const { code = 'invalid_type', suggestion } = (issue.params ?? {}) as { code?: FieldCode; suggestion?: string };
    return { code, message: issue.message, suggestion };
  }
  if (input === undefined) return { code: 'required', message: 'is required' };
  if (issue.code === 'invalid_value') {
    const values = issue.values.map(String);
    const suggestion = typeof input === 'string' ? nearest(input, values) : undefined;
    return {
      code: typeof input === 'string' ? 'invalid_enum' : 'invalid_type',
      message: `must be one of ${values.join(', ')}`,
      suggestion,
    };
  }
  if (issue.code === 'invalid_type') {
    const nullHint = input === null ? '; it cannot be null' : '';
    return { code: 'invalid_type', message: `must be ${article(issue.expected)}${nullHint}` };
  }
  return { code: 'invalid_type', message: issue.message };
}

const article = (type: string) => (/^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`);

function valueAt(value: unknown, path: string[]): unknown {
  return path.reduce<unknown>(
    (found, name) => (typeof found === 'object' && found !== null ? Reflect.get(found, name) : undefined),
    value,
  );
}

/** The names that a schema knows at a path, whatever it is wrapped in. */
function namesAt(schema: unknown, path: string[]): string[] {
  const shape = shapeOf(schema);
  if (!shape) return [];
  const [name, ...rest] = path;
  // The place of an element in a list: the list answers with the names of its elements.
  if (name !== undefined && /^\d+$/.test(name)) return namesAt(schema, rest);
  return name === undefined ? Object.keys(shape) : namesAt(shape[name], rest);
}

function shapeOf(schema: unknown): Record<string, unknown> | undefined {
  if (schema instanceof z.ZodObject) return schema.shape;
  if (schema instanceof z.ZodArray) return shapeOf(schema.element);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return shapeOf(schema.unwrap());
  if (schema instanceof z.ZodPipe) return shapeOf(schema.out) ?? shapeOf(schema.in);
  return undefined;
}
