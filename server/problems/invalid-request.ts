/** The contract's schema issues → the errors of a problem: location, field, code and advice. */
import type { AppRoute } from '@ts-rest/core';
import { z } from 'zod';
import { maximumErrors } from '../../contract/limits.ts';
import { bodyOf } from '../../contract/operations.ts';
import { nearest } from '../../contract/nearest.ts';
import type { ProblemError } from '../../contract/problem.ts';
import type { ProblemCode } from '../../contract/problems/catalog.ts';
import type { FieldCode } from '../../contract/problems/field-codes.ts';
import { foreignParameters } from '../../contract/problems/sentences.ts';
import { Problem } from './problem.ts';
import { safeExcerpt } from './safe-text.ts';

type Issue = z.core.$ZodIssue;
type Place = ProblemError['in'];
/** What an invalid request contained, and the schemas of what it could have contained. */
type Sent = { query?: unknown; body?: unknown; querySchema?: unknown; bodySchema?: unknown; recordSchema?: unknown };

/** What the schemas of an operation found wrong. */
export type SchemaErrors = Partial<Record<'query' | 'headers' | 'body', z.ZodError | undefined>>;

/** The problem of a request that the contract does not accept; `further` are errors that no schema finds. */
export function invalidRequest(
  route: AppRoute,
  request: { query?: unknown; body?: unknown },
  found: SchemaErrors,
  further: readonly ProblemError[],
) {
  const sent: Sent = {
    query: request.query,
    body: request.body,
    querySchema: route.query,
    bodySchema: bodyOf(route),
    recordSchema: route.responses[201] ?? route.responses[200],
  };
  const all = (place: Place, issues: SingleIssue[]) => {
    const described = describeAll(issues, place, sent);
    // One error is enough for a field.
    for (const error of further)
      if (error.in === place && described.every(({ field }) => field !== error.field)) described.push(error);
    return described;
  };
  const query = all('query', inOrder(singleIssuesOf(found.query), request.query));
  const headers = all('header', singleIssuesOf(found.headers));
  const body = all('body', singleIssuesOf(found.body));
  const errors = [...query, ...headers, ...body].slice(0, maximumErrors);
  const first = query[0]?.code ?? headers[0]?.code;
  if (first === undefined) return new Problem('validation_failed', { errors });
  return new Problem(codesOfTheirOwn.find((code) => code === first) ?? 'invalid_parameter', { errors });
}

/** These become the problem's code. Outside the body, the first error decides. */
const codesOfTheirOwn = ['unknown_parameter', 'duplicate_parameter', 'invalid_header'] as const;

/** The errors of a record that did not arrive as a request, such as a row of an import. */
export function describeInvalidBody(
  issues: readonly Issue[],
  sent: Pick<Sent, 'body' | 'bodySchema' | 'recordSchema'>,
): ProblemError[] {
  return describeAll(singleIssuesOf({ issues }), 'body', sent);
}

/** One issue of a schema, or one of the unknown names that an issue lists. */
type SingleIssue = { issue: Issue; key?: string };

function singleIssuesOf({ issues }: { issues: readonly Issue[] } = { issues: [] }): SingleIssue[] {
  return issues.flatMap((issue): SingleIssue[] =>
    issue.code === 'unrecognized_keys' ? issue.keys.map((key) => ({ issue, key })) : [{ issue }],
  );
}

/** In the order in which the parameters were sent. */
function inOrder(issues: SingleIssue[], query: unknown): SingleIssue[] {
  const positions = new Map(Object.keys(Object(query)).map((name, position) => [name, position]));
  const positionOf = ({ issue, key }: SingleIssue) => positions.get(key ?? String(issue.path[0])) ?? 0;
  return issues.toSorted((left, right) => positionOf(left) - positionOf(right));
}

/** Describes only the errors that are sent: names and suggestions cost more than the validation. */
const describeAll = (issues: readonly SingleIssue[], place: Place, sent: Sent): ProblemError[] =>
  issues.slice(0, maximumErrors).map((issue) => describe(issue, place, sent));

function describe({ issue, key }: SingleIssue, place: Place, sent: Sent): ProblemError {
  const path = issue.path.map(String);
  if (key !== undefined) return unknownName(key, path, place, sent);
  const value = valueAt(place === 'body' ? sent.body : sent.query, path);
  const explained = explain(issue, value);
  return entry(place, path, place === 'body' ? explained : { ...explained, code: outsideBody(place, explained) });
}

/** Outside the body, an error has the code of its problem. */
function outsideBody(place: Place, { code }: Explained): ProblemCode {
  if (place === 'header') return 'invalid_header';
  return code === 'duplicate_item' ? 'duplicate_parameter' : 'invalid_parameter';
}

function entry(place: Place, path: string[], { code, message, suggestion }: Explained<string>): ProblemError {
  const names = path.map(safeExcerpt);
  const field = place === 'query' && names.length > 1 ? `${names[0]}[${names.slice(1).join('.')}]` : names.join('.');
  const pointer =
    place === 'body' ? names.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('') : null;
  return { in: place, field, pointer, code, message, ...(suggestion && { suggestion: safeExcerpt(suggestion) }) };
}

function unknownName(key: string, path: string[], place: Place, sent: Sent): ProblemError {
  if (place !== 'body') return unknownParameter(key, namesAt(sent.querySchema, []));
  const readOnly = path.length === 0 && namesAt(sent.recordSchema, []).includes(key);
  if (readOnly)
    return entry(place, [key], { code: 'read_only_field', message: 'is set by the server and cannot be given' });
  const suggestion = nearest(key, namesAt(sent.bodySchema, path));
  return entry(place, [...path, key], { code: 'unknown_field', message: 'is not a field of this record', suggestion });
}

function unknownParameter(key: string, names: readonly string[]): ProblemError {
  const unknown = (why = '', suggestion?: string) =>
    entry('query', [key], {
      code: 'unknown_parameter',
      message: `is not a parameter of this operation${why && `; ${why}`}`,
      suggestion,
    });
  const { advice, suggestion, otherwise } = foreignParameters.get(key) ?? {};
  if (advice !== undefined && (suggestion === undefined || names.includes(suggestion)))
    return unknown(advice, suggestion);
  return otherwise === undefined ? unknown('', nearest(key.replace(/[.[].*$/s, ''), names)) : unknown(otherwise);
}

type Explained<Code = FieldCode> = { code: Code; message: string; suggestion?: string | undefined };

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
    const hint = input === null ? '; it cannot be null' : '';
    return { code: 'invalid_type', message: `must be ${valueOf(issue.expected)}${hint}` };
  }
  return { code: 'invalid_type', message: issue.message };
}

/** `object` → `an object` */
function valueOf(type: string): string {
  if (type === 'boolean') return 'true or false';
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

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
  // An index into a list: continue with the names of the list's elements.
  if (name !== undefined && /^\d+$/.test(name)) return namesAt(schema, rest);
  return name === undefined ? Object.keys(shape) : namesAt(shape[name], rest);
}

function shapeOf(schema: unknown): Record<string, unknown> | undefined {
  if (schema instanceof z.ZodObject) return schema.shape;
  if (schema instanceof z.ZodArray) return shapeOf(schema.element);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return shapeOf(schema.unwrap());
  if (schema instanceof z.ZodPipe) return shapeOf(schema.out);
  return undefined;
}
