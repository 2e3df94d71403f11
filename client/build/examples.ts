/** The text of client/examples.ts: what each operation of the contract responds with, by its published example. */
import { expandedDocument } from '../../contract/openapi/openapi.ts';

/** A longer line is broken by the formatter, which would make the committed file differ. */
export function generateExamples(): string {
  const examples = Object.entries(expandedDocument('https://api.example.com').paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { responses }]) => {
      const status = responses[201] ? 201 : 200;
      const body = Object(responses[status]?.content?.['application/json']?.example);
      // Whatever the cursor, the response is the same: a loop over a list must end with it.
      if (body.pagination) Object.assign(body.pagination, { hasMore: false, nextCursor: null, nextUrl: null });
      return [`${method.toUpperCase()} ${path}`, { status, body }];
    }),
  );
  const text = JSON.stringify(JSON.stringify(Object.fromEntries(examples)));
  return [
    '/** Generated from the contract by `npm run generate`. Do not edit: change the contract instead. */\n',
    '/** @internal Operation → the response of its documentation, as JSON. */',
    `export const examples = ${text};\n`,
  ].join('\n');
}
