/**
 * For tests of your own code: a `fetch` that responds with the documentation's examples and sends nothing.
 *
 * @example
 * import { exampleFetch } from '@proposal-api/client/testing';
 * const gone = { status: 404, body: { code: 'not_found' } };
 * const fetch = exampleFetch({ 'GET /v1/customers/{customerId}': gone });
 * const client = createClient({ baseUrl: 'https://api.example.com', apiKey: 'test', fetch });
 * expect(fetch.calls).toEqual([{ operation: 'GET /v1/me', url: 'https://api.example.com/v1/me', body: undefined }]);
 */
import { examples } from './examples.ts';
import type { ExampleOperation } from './examples.ts';
import type { FetchInit } from './platform.ts';
import type { Fetch } from './send.ts';

/** A response; the status is 200 unless you give another. An error needs only its `code`, a page its `data`. */
export type ExampleAnswer = {
  status?: number | undefined;
  body: unknown;
  headers?: Readonly<Record<string, string>> | undefined;
};

/** A request that was answered. */
export type ExampleCall = {
  /** The name of the operation, as in the reference. */
  operation: ExampleOperation;
  url: string;
  /** The parsed JSON; undefined without a body. */
  body: unknown;
};

/** What `exampleFetch` returns: a `fetch` that records its calls. */
export type ExampleFetch = Fetch & { readonly calls: ExampleCall[] };

/** Operation → a response, or a function that returns one. */
export type ExampleAnswers = {
  [operation in ExampleOperation]?: ExampleAnswer | ((call: ExampleCall) => ExampleAnswer) | undefined;
};

/**
 * `answers` replaces the examples of some operations. Throws a TypeError for an unknown operation: write names as in the
 * reference, such as `GET /v1/customers/{customerId}`.
 */
export function exampleFetch(answers: ExampleAnswers = {}): ExampleFetch {
  // Written by our own generator.
  const known = JSON.parse(examples) as Record<ExampleOperation, ExampleAnswer>;
  const operations = Object.keys(known) as ExampleOperation[];
  const noOperation = (name: string) =>
    new TypeError(`The API has no operation ${name}. Operations: ${operations.join(', ')}.`);
  for (const name of Object.keys(answers)) if (!Object.hasOwn(known, name)) throw noOperation(name);
  const calls: ExampleCall[] = [];
  const answer = async (url: string, { method = 'GET', body }: Partial<FetchInit>) => {
    const { pathname } = new URL(url);
    const operation = operations.find((name) => isFor(name, method, pathname));
    if (operation === undefined) throw noOperation(`${method} ${pathname}`);
    const call = { operation, url, body: typeof body === 'string' ? JSON.parse(body) : undefined };
    calls.push(call);
    const given = answers[operation] ?? known[operation];
    const { status = 200, body: json, headers: further = {} } = typeof given === 'function' ? given(call) : given;
    const headers = new Headers({ 'content-type': status < 400 ? 'application/json' : 'application/problem+json' });
    // The service sends that of a single record as a header, too.
    const etag: unknown = Reflect.get(Object(json), 'etag');
    if (typeof etag === 'string') headers.set('etag', etag);
    for (const [name, value] of Object.entries(further)) headers.set(name, value);
    const text = JSON.stringify(completed(json, known[operation]));
    // Not a Response, which jsdom does not have.
    return { ok: status >= 200 && status < 300, status, headers, text: async () => text };
  };
  return Object.assign(answer, { calls });
}

/** With what every error and every page of the service has. */
function completed(json: unknown, example: ExampleAnswer): unknown {
  if (typeof json !== 'object' || json === null) return json;
  if ('code' in json) return { detail: '', errors: [], ...json };
  return 'data' in json ? { ...Object(example.body), ...json } : json;
}

/** `GET /v1/customers/{customerId}` is for `/v1/customers/cus_1`, with any prefix before `/v1`. */
function isFor(operation: string, method: string, pathname: string): boolean {
  const [verb, path = ''] = operation.split(' ');
  return verb === method && new RegExp(`${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname);
}
