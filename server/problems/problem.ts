/** Problem: the one error type for every failed request. */
import { problemCatalog } from '../../contract/problems/catalog.ts';
import { problemBody } from '../../contract/problems/row.ts';
import type { Row } from '../../contract/problems/row.ts';
import type { FieldCode } from '../../contract/problems/field-codes.ts';
import type { Problem as ProblemBody, ProblemError } from '../../contract/problem.ts';
import { settingsProblems } from './settings.ts';
import type { SettingsCode } from './settings.ts';

/** The API's problems, which the contract publishes, and those of the settings pages. */
const catalog = { ...problemCatalog, ...settingsProblems };
type ProblemCode = keyof typeof catalog;

/** The facts in the sentence of a problem. */
type Facts<Code extends ProblemCode> = Parameters<(typeof catalog)[Code]['detail']>[0];
/** `cause` goes to the log, never to the caller. */
type Arguments<Code extends ProblemCode> =
  undefined extends Facts<Code>
    ? [facts?: undefined, options?: ErrorOptions]
    : [facts: Facts<Code>, options?: ErrorOptions];

/**
 * Can be thrown anywhere; on leaving the server, it becomes JSON or a page. The code's row in the catalog has the
 * sentence.
 *
 * @example throw new Problem('not_found', { record: 'customer' });
 */
export class Problem<Code extends ProblemCode = ProblemCode> extends Error {
  readonly code: Code;
  readonly status: number;
  readonly title: string;
  readonly headers: Record<string, string>;
  readonly errors: readonly ProblemError[];
  /** The JSON body, for the request with this id. */
  readonly body: (requestId: string, publicUrl: string) => ProblemBody;

  constructor(code: Code, ...[input, options]: Arguments<Code>) {
    // The row of a code takes the facts of that code, which is what `Arguments` requires.
    const row = catalog[code] as unknown as Row<number, Facts<Code>>;
    const facts = input as Facts<Code>;
    super(row.detail(facts), options);
    this.code = code;
    this.status = row.status;
    this.title = row.title;
    this.headers = row.headers?.(facts) ?? {};
    this.errors = row.errors?.(facts) ?? [];
    this.body = (requestId, publicUrl) => problemBody(row, { code, facts, requestId, publicUrl });
  }
}

export type SettingsProblem = Problem<SettingsCode>;

/** Whether a person in the settings, or at a command, caused the error. */
export function isSettingsProblem(error: unknown): error is SettingsProblem {
  return error instanceof Problem && Object.hasOwn(settingsProblems, String(error.code));
}

/** The field of a form that is wrong; undefined if the problem is not about one field. */
export const fieldOf = (problem: SettingsProblem): string | undefined => problem.errors[0]?.field;

/** A field of a body that is wrong for a reason that its schema does not know; an empty `field` is the whole body. */
export const fieldError = (field: string, code: FieldCode, message: string): ProblemError => ({
  in: 'body',
  field,
  pointer: field && `/${field}`,
  code,
  message,
});

/** Problem: validation_failed, with all of these errors, if there are any. */
export function requireNone(errors: ProblemError[]): void {
  if (errors.length > 0) throw new Problem('validation_failed', { errors });
}

/** A parameter or a header that is wrong for a reason that its own schema does not know. */
export const requestError = (place: 'query' | 'header', field: string, message: string): ProblemError => ({
  in: place,
  field,
  pointer: null,
  code: place === 'query' ? 'invalid_parameter' : 'invalid_header',
  message,
});

/** The problem of one such parameter. */
export const parameterProblem = (field: string, message: string): Problem =>
  new Problem('invalid_parameter', { errors: [requestError('query', field, message)] });
