/** The failures of an operation as OpenAPI describes them: by status, with the possible codes and examples. */
import { exampleRequestId, exampleUrl } from '../examples.ts';
import { problemCatalog, problemCodes } from '../problems/catalog.ts';
import type { ProblemCode } from '../problems/catalog.ts';
import { problemBody } from '../problems/row.ts';
import type { PublishedRow } from '../problems/row.ts';
import type { Example, MediaType, Reference, Schema } from './document.ts';

/** What a request to an operation can contain. */
export type Inputs = {
  path: string;
  parameters: ReadonlySet<string>;
  headers: ReadonlySet<string>;
  fields: ReadonlySet<string>;
};

const inList = ({ parameters }: Inputs) => parameters.has('cursor');
const inQuery = ({ parameters }: Inputs) => parameters.size > 0;
const inBody = ({ fields }: Inputs) => fields.size > 0;
const idempotent = ({ headers }: Inputs) => headers.has('idempotency-key');
/** Whether an existing customer may be changed. */
const changesCustomer = ({ headers, path }: Inputs) => headers.has('if-match') && path.includes('/customers');
const never = () => false;

/** Which operations can fail with a code; a code that is not listed applies to every operation with its status. */
const possible: Partial<Record<ProblemCode, (inputs: Inputs) => boolean>> = {
  malformed_json: inBody,
  duplicate_parameter: inQuery,
  invalid_cursor: inList,
  cursor_mismatch: inList,
  route_not_found: never,
  method_not_allowed: never,
  external_id_taken: ({ fields }) => fields.has('externalId'),
  customer_erased: changesCustomer,
  external_id_erased: changesCustomer,
  sku_taken: ({ fields }) => fields.has('sku'),
  idempotency_in_progress: idempotent,
  idempotency_key_reused: idempotent,
};

export function codesOf(status: number, inputs: Inputs): ProblemCode[] {
  return problemCodes.filter((code) => problemCatalog[code].status === status && (possible[code]?.(inputs) ?? true));
}

/** `application/problem+json` with these codes. */
export function problemContent(codes: ProblemCode[], schema: Schema): Record<string, MediaType> {
  const examples = Object.fromEntries(
    codes.map((code): [string, Reference] => [code, { $ref: `#/components/examples/${code}` }]),
  );
  return { 'application/problem+json': { schema, examples } };
}

export function problemDescription(codes: ProblemCode[]): string {
  return codes.map((code) => `- \`${code}\`: ${problemCatalog[code].title}.`).join('\n');
}

/** One example of each problem, as the server sends it. */
export function problemExamples(): Record<string, Example> {
  return Object.fromEntries(
    problemCodes.map((code) => {
      // A row's example has the facts that the row takes, but the compiler cannot see that through an index.
      const row = problemCatalog[code] as unknown as PublishedRow<number, unknown>;
      const request = { code, facts: row.example, requestId: exampleRequestId, publicUrl: exampleUrl };
      return [code, { summary: row.title, value: problemBody(row, request) }];
    }),
  );
}
