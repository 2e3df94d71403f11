/** Contract ↔ handlers: a handler is a plain function of what was asked and who asks, and sees no Express. */
import type { AppRouter } from '@ts-rest/core';
import { isAppRoute } from '@ts-rest/core';
import type { createExpressEndpoints } from '@ts-rest/express';
import type { Request, Response } from 'express';
import type { V1 } from '../../contract/v1.ts';
import type { Caller } from '../keys/caller.ts';
import type { Handlers, SuccessStatus } from '../api/handler.ts';
import { etagOf, isNotModified } from '../api/conditional.ts';

type Input = { params: unknown; query: unknown; body: unknown; headers: unknown; req: Request; res: Response };
type Plain = { status: SuccessStatus; body: object; location?: string; replayed?: boolean };

type Endpoints = Parameters<typeof createExpressEndpoints<AppRouter>>[1];

/** The handlers as ts-rest wants them: with the caller found, the record's ETag and the place of a new one. */
export function adapt(
  contract: V1,
  handlers: { [Resource in keyof V1]: Handlers<V1[Resource]> },
  { callerOf, baseUrl }: { callerOf: (request: Request) => Caller; baseUrl: () => string },
): Endpoints {
  const adaptOne = (handler: (asked: unknown, caller: Caller) => Promise<Plain>) => {
    return async ({ params, query, body, headers, req, res }: Input) => {
      const answer = await handler({ params, query, body, headers, baseUrl: baseUrl() }, callerOf(req));
      if (answer.location) res.set('Location', baseUrl() + answer.location);
      if (answer.replayed) res.set('Idempotency-Replayed', 'true');
      if ('id' in answer.body) {
        const etag = etagOf(answer.body);
        res.set('ETag', etag);
        // Only the reads have the header in their contract.
        if (req.method !== 'PATCH' && isNotModified(ifNoneMatchOf(headers), etag))
          return { status: 304, body: undefined };
      }
      const next: unknown = Reflect.get(Object(Reflect.get(answer.body, 'pagination')), 'nextUrl');
      if (typeof next === 'string') res.set('Link', `<${next}>; rel="next"`);
      return { status: answer.status, body: answer.body };
    };
  };
  // Names to functions, level by level: what stands where was checked by the type of `handlers`.
  const walk = (routes: object, kept: object): object =>
    Object.fromEntries(
      Object.entries(routes).map(([name, route]) => {
        const value: never = Reflect.get(kept, name) as never;
        return [name, isAppRoute(route) ? adaptOne(value) : walk(route, value)];
      }),
    );
  return walk(contract, handlers) as Endpoints;
}

const ifNoneMatchOf = (headers: unknown): string | undefined => {
  const header: unknown = Reflect.get(Object(headers), 'if-none-match');
  return typeof header === 'string' ? header : undefined;
};
