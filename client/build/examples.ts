/** The text of client/examples.ts: the published example response of each operation of the contract. */
import { expandedDocument } from '../../contract/openapi/openapi.ts';

/** One long string: the formatter would break an object into lines, and the committed file would differ. */
export function generateExamples(): string {
  const examples = Object.entries(expandedDocument('https://api.example.com').paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { responses }]) => {
      const status = [201, 200].find((one) => responses[one]) ?? 204;
      const body = Object(responses[status]?.content?.['application/json']?.example);
      // The response is the same for any cursor, so it must be the last page for a loop over a list to end.
      if (body.pagination) Object.assign(body.pagination, { hasMore: false, nextCursor: null, nextUrl: null });
      return [`${method.toUpperCase()} ${path}`, { status, body }] as const;
    }),
  );
  const text = JSON.stringify(JSON.stringify(Object.fromEntries(examples)));
  const names = examples.map(([name]) => `\n  | '${name}'`).join('');
  return [
    '/** Generated from the contract by `npm run generate`. Do not edit: change the contract instead. */\n',
    '/** @internal Operation → the response of its documentation, as JSON. */',
    `export const examples = ${text};\n`,
    '/** An operation, as the documentation writes it. */',
    `export type ExampleOperation =${names};\n`,
  ].join('\n');
}
