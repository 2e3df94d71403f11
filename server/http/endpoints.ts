/** Connects the contract and the handlers; each reply becomes one write to the connection. */
import { Stream } from 'node:stream';
import type { AppRouter } from '@ts-rest/core';
import { isAppRoute } from '@ts-rest/core';
import type { createExpressEndpoints } from '@ts-rest/express';
import type { Response } from 'express';
import type { V1 } from '../../contract/v1.ts';
import { isNotModified } from '../api/conditional.ts';
import type { Handlers } from '../api/handler.ts';
import type { Reply } from '../api/reply.ts';
import type { Caller } from '../keys/caller.ts';
import { callerOf } from './context.ts';

type Input = { params: unknown; query: unknown; body: unknown; headers: unknown; res: Response };
type AnyReply = Reply<200 | 201, unknown>;
type Endpoints = Parameters<typeof createExpressEndpoints<AppRouter>>[1];

/** The handlers in the form that ts-rest expects. */
export function adapt(
  contract: V1,
  handlers: { [Resource in keyof V1]: Handlers<V1[Resource]> },
  baseUrl: () => string,
): Endpoints {
  const adaptOne = (handler: (request: unknown, caller: Caller) => Promise<AnyReply>, isConditional: boolean) => {
    return async ({ params, query, body, headers, res }: Input) => {
      const reply = await handler({ params, query, body, headers, baseUrl: baseUrl() }, callerOf(res));
      const isSame = isConditional && reply.etag !== undefined && isNotModified(ifNoneMatchOf(headers), reply.etag);
      return { status: isSame ? 304 : reply.status, body: new Sending(reply, isSame, baseUrl()) };
    };
  };
  // Names to functions, level by level; the type of `handlers` has checked that they match.
  const adaptAll = (routes: object, group: object): object =>
    Object.fromEntries(
      Object.entries(routes).map(([name, route]) => {
        const value: never = Reflect.get(group, name) as never;
        return [name, isAppRoute(route) ? adaptOne(value, 304 in route.responses) : adaptAll(route, value)];
      }),
    );
  return adaptAll(contract, handlers) as Endpoints;
}

/** ts-rest pipes a body that is a stream into the response: this one writes the whole of it at once. */
class Sending extends Stream {
  readonly #reply: AnyReply;
  readonly #isSame: boolean;
  readonly #baseUrl: string;

  constructor(reply: AnyReply, isSame: boolean, baseUrl: string) {
    super();
    this.#reply = reply;
    this.#isSame = isSame;
    this.#baseUrl = baseUrl;
  }

  override pipe<T extends NodeJS.WritableStream>(destination: T): T {
    // ts-rest gives the response.
    const response = destination as unknown as Response;
    const { status, text, etag, location, next, replayed } = this.#reply;
    const headers: Record<string, string | number> = {};
    if (etag !== undefined) headers.ETag = etag;
    if (this.#isSame) {
      response.writeHead(304, headers).end();
      return destination;
    }
    headers['Content-Type'] = 'application/json; charset=utf-8';
    headers['Content-Length'] = Buffer.byteLength(text);
    if (location !== undefined) headers.Location = this.#baseUrl + location;
    if (next) headers.Link = `<${next}>; rel="next"`;
    if (replayed) headers['Idempotency-Replayed'] = 'true';
    // Node sends no body in response to HEAD.
    response.writeHead(status, headers).end(text);
    return destination;
  }
}

const ifNoneMatchOf = (headers: unknown): string | undefined => {
  const header: unknown = Reflect.get(Object(headers), 'if-none-match');
  return typeof header === 'string' ? header : undefined;
};
