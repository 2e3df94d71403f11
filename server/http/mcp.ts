/** POST /mcp: tools for agents, with the same keys, limits and handlers as the API. */
import { Readable } from 'node:stream';
import { RequestValidationError } from '@ts-rest/express';
import type { AppRoute } from '@ts-rest/core';
import type { Request as HttpRequest, RequestHandler } from 'express';
import { z } from 'zod';
import { v1Handlers } from '../api/v1.ts';
import { v1 } from '../../contract/v1.ts';
import type { Caller } from '../keys/caller.ts';
import { handleMcp } from '../mcp/server.ts';
import type { CallOperation, OperationInput } from '../mcp/tools.ts';
import { invalidRequest } from '../problems/invalid-request.ts';
import { toProblem } from '../problems/translate.ts';
import { readVersion } from '../files.ts';
import { callerOf } from './context.ts';
import { operationIdOf } from './routes.ts';

export function mcpEndpoint(baseUrl: () => string): RequestHandler {
  const version = readVersion();
  return async (request, response) => {
    const perform = operationCaller(callerOf(response), baseUrl());
    const call: CallOperation = async (route, input) => {
      const performed: typeof response.locals.performed = { operation: operationIdOf(route.metadata) };
      response.locals.performed = performed;
      try {
        return await perform(route, input);
      } catch (error) {
        performed.problem = toProblem(error);
        throw error;
      }
    };
    const onFailure = (error: unknown) => (response.locals.failure = error);
    const { status, headers, body } = await handleMcp(webRequest(request), request.body, { version, call, onFailure });
    response.status(status);
    for (const [name, value] of headers) response.set(name, value);
    if (body) Readable.fromWeb(body).pipe(response);
    else response.end();
  };
}

/** Without the body: it is already parsed, and passed to the SDK separately. */
function webRequest({ method, headers }: HttpRequest): Request {
  const entries = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined || name === 'content-length' || name === 'authorization'
      ? []
      : [[name, [value].flat().join(', ')]],
  );
  return new Request('http://localhost/mcp', { method, headers: entries });
}

type AnyHandler = (request: unknown, caller: Caller) => Promise<{ body: unknown }>;

/** Performs operations as for a request: the contract's schemas first, then the handler. */
function operationCaller(caller: Caller, baseUrl: string): CallOperation {
  return async (route, input) => {
    const handler = handlerOf(route);
    const { params = {}, query, body, headers } = parsedInput(route, input);
    return (await handler({ params, query, body, headers, baseUrl }, caller)).body;
  };
}

function handlerOf(route: AppRoute): AnyHandler {
  for (const [resource, routes] of Object.entries(v1)) {
    const name = Object.entries(routes).find(([, one]) => one === route)?.[0];
    if (name !== undefined) return Reflect.get(Reflect.get(v1Handlers, resource), name);
  }
  throw new Error(`${route.method} ${route.path} has no handler.`);
}

function parsedInput(route: AppRoute, { params, query = {}, body, headers = {} }: OperationInput) {
  const check = (schema: unknown, value: unknown) =>
    schema instanceof z.ZodType ? schema.safeParse(value) : ({ success: true, data: value, error: undefined } as const);
  const parsed = {
    query: check(route.query, query),
    headers: check(route.headers, headers),
    body: 'body' in route ? check(route.body, body ?? {}) : check(undefined, undefined),
  };
  if (parsed.query.success && parsed.headers.success && parsed.body.success) {
    return { params, query: parsed.query.data, headers: parsed.headers.data, body: parsed.body.data };
  }
  const error = new RequestValidationError(
    null,
    parsed.headers.error ?? null,
    parsed.query.error ?? null,
    parsed.body.error ?? null,
  );
  const request = { query, body, tsRestRoute: route };
  throw invalidRequest(error, request);
}
