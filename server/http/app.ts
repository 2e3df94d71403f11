/** The whole HTTP surface, in the order in which a request passes through it. */
import type { AppRouter } from '@ts-rest/core';
import { createExpressEndpoints } from '@ts-rest/express';
import type { RequestValidationError } from '@ts-rest/express';
import express from 'express';
import type { ErrorRequestHandler, Express, Request, RequestHandler, Response } from 'express';
import { rateLimit } from '../../contract/limits.ts';
import { v1 } from '../../contract/v1.ts';
import { authenticate } from '../keys/authenticate.ts';
import { createCaller } from '../keys/caller.ts';
import type { Caller } from '../keys/caller.ts';
import type { Uploads } from '../import/uploads/uploads.ts';
import type { KeyDirectory } from '../keys/directory.ts';
import type { StatementLimiter } from '../limits/concurrency.ts';
import type { UnknownKeys } from '../limits/unknown-keys.ts';
import type { RateLimiter } from '../limits/rate-limit.ts';
import { limitTime } from './deadlines.ts';
import { adapt } from './endpoints.ts';
import { leanContract } from './lean-contract.ts';
import { v1Handlers } from '../api/v1.ts';
import type { Database } from '../database/orm.ts';
import { freshId, publicId } from '../records/public-id.ts';
import { readBody } from './body.ts';
import { describeError } from './log.ts';
import type { Log } from './log.ts';
import { onDemand } from './on-demand.ts';
import { parseQuery } from './query.ts';
import { limitHeaders } from './rate-headers.ts';
import { allowedMethods, methodAdvice, operationFinder, operationIdOf, pathForm, routeHint } from './routes.ts';
import { invalidRequest } from '../problems/invalid-request.ts';
import { Problem } from '../problems/problem.ts';
import { DeadlineError, toProblem } from '../problems/translate.ts';
import { sendProblem } from './send-problem.ts';
import type { UsageEvent, UsageLog } from '../keys/usage.ts';
import { sendErrorPage } from '../web/settings/error-page.ts';
import type { SettingsOptions } from '../web/settings/routes.ts';
import { siteRoutes, unknownPage } from '../web/site.ts';

export type Parts = SettingsOptions & {
  database: Database;
  keys: KeyDirectory;
  usage: UsageLog;
  uploads: Uploads;
  /** Limits unknown keys, per network. */
  unknownKeys: UnknownKeys;
  limiter: RateLimiter;
  /** Limits how many statements run in the database at once. */
  statements: StatementLimiter;
  log: Log;
  /** Signs the sessions and forms of the settings pages; see SettingsParts. */
  secret: string;
  /** Whether people reach the service over https. */
  secure: boolean;
  /** How many trusted proxies are in front, each of which adds to X-Forwarded-For. */
  trustedProxies: number;
  /** The URL of the service as callers see it, without a trailing slash; known once the server listens. */
  baseUrl: () => string;
};

export function createApp(parts: Parts): Express {
  const { baseUrl, log } = parts;
  const app = express();
  app
    .disable('x-powered-by')
    .disable('etag')
    .enable('case sensitive routing')
    .set('query parser', parseQuery)
    .set('trust proxy', parts.trustedProxies);

  app.use(
    identify(parts),
    limitTime(deadlineMs, (request, response) => {
      // In a checkout, the first request for the client compiles it, which needs no database.
      if (request.originalUrl.startsWith('/client')) return;
      const late = new DeadlineError(`No response within ${deadlineMs} ms.`);
      if (request.originalUrl.startsWith('/settings')) sendErrorPage(late, request, response, () => {});
      else sendProblem(response, toProblem(late), baseUrl());
    }),
  );

  // The API comes first, because anything before it would cost time in each of its requests.
  const allowed = new Map([...allowedMethods(v1), ['/mcp', 'POST, OPTIONS']]);
  app.use(sendOptions(allowed));
  app.use(['/v1', '/mcp'], admitCaller(parts));
  createExpressEndpoints<AppRouter>(leanContract(v1), adapt(v1, v1Handlers, baseUrl), app, endpointOptions);
  const mcp = onDemand(async () => (await import('./mcp.ts')).mcpEndpoint(baseUrl));
  app.post('/mcp', ...readBody, mcp);
  for (const [path, methods] of allowed) app.all(path, rejectMethod(methods));

  app.get('/healthz', (_, response) => void response.json({ status: 'ok' }));
  app.get('/readyz', readiness(parts));
  const openApi = onDemand(async () => (await import('./openapi.ts')).openApiRoutes(baseUrl));
  app.get(['/openapi.json', '/openapi-3.0.json', '/openapi.yaml', '/swagger-2.0.json'], openApi);
  app.use(
    '/docs',
    onDemand(async () => (await import('../web/docs/router.ts')).docs(baseUrl)),
  );
  app.use(siteRoutes(baseUrl));
  const onError = (error: unknown) => log({ message: 'settings failed beside a request', error: describeError(error) });
  app.use(
    '/settings',
    onDemand(async () => (await import('../web/settings/routes.ts')).settingsRouter({ ...parts, onError })),
  );

  app.use(unknownPage);
  app.use(({ path }) => {
    throw new Problem('route_not_found', { hint: routeHint(path, allowed.keys()) });
  });
  app.use(renderProblem(parts));
  return app;
}

// ts-rest types these for one route each; they are Express's own, and serve any route.
const endpointOptions = {
  globalMiddleware: readBody,
  requestValidationErrorHandler: rejectInvalid,
} as unknown as Parameters<typeof createExpressEndpoints<AppRouter>>[3];

const deadlineMs = 11_000;

/** Gives the request its id and its line in the log. */
function identify({ log, usage }: Parts): RequestHandler {
  return (request, response, next) => {
    const requestId = freshId('request');
    const startedAt = performance.now();
    // Inside a mounted router, such as the settings', `url` is shorter.
    const { path } = request;
    response.locals.requestId = requestId;
    response.setHeader('X-Request-Id', requestId);
    response.setHeader('Cache-Control', 'private, no-cache');
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.on('close', () => {
      const { caller, memberId, failure } = response.locals;
      const operation = operationOf(request);
      log({
        requestId,
        method: request.method,
        path,
        operation,
        status: response.statusCode,
        ms: Math.round((performance.now() - startedAt) * 10) / 10,
        keyId: caller && publicId('key', caller.key.id),
        organizationId: caller && publicId('organization', caller.organization.id),
        memberId: memberId && publicId('member', memberId),
        ...(response.writableFinished ? {} : { aborted: true }),
        ...(failure ? { error: describeError(failure) } : {}),
      });
      if (caller) usage.record(usageOf({ method: request.method, path, operation }, response, caller));
    });
    const hosts = request.headersDistinct.host?.filter((host) => host !== '').length ?? 0;
    if (hosts === 0 && request.httpVersion === '1.1') throw new Problem('malformed_request', { fault: 'no_host' });
    if (hosts > 1) throw new Problem('malformed_request', { fault: 'two_hosts' });
    next();
  };
}

const findOperation = operationFinder(v1);
type Requested = { method: string; path: string; operation: string | undefined };

/**
 * What a key's usage records about a request: which fields were wrong, but not their values. An agent's tool counts as the
 * operation that it performed, with the status of that.
 */
function usageOf(
  { method, path, operation }: Requested,
  response: Response,
  { key, organization }: Caller,
): UsageEvent {
  const { problem, performed, requestId } = response.locals;
  const failed = problem ?? performed?.problem;
  return {
    keyId: key.id,
    organizationId: organization.id,
    // Whatever is rejected before it is routed, such as by the rate limit, is looked up by its path.
    operation: performed?.operation ?? operation ?? findOperation(method, path),
    status: performed?.problem?.status ?? response.statusCode,
    code: failed?.code,
    fields: failed?.errors.map(({ field, code }) => ({ field, code })),
    requestId,
  };
}

/** The operationId of the contract, once the request is routed. */
export function operationOf(request: object): string | undefined {
  return operationIdOf(Reflect.get(Object(Reflect.get(request, 'tsRestRoute')), 'metadata'));
}

function readiness({ database }: Parts): RequestHandler {
  return async (_, response) => {
    await database.control.query('select 1');
    response.json({ status: 'ready' });
  };
}

/** The rate limit state of a network that has sent too many unknown keys. */
const exhausted = { remaining: 0, resetSeconds: rateLimit.windowSeconds };

/** Checks the key (401), then the rate limit (429), then the plan (403); later steps know the caller. */
function admitCaller({ keys, unknownKeys, limiter, ...parts }: Parts): RequestHandler {
  return async (request, response, next) => {
    const { headers, url, ip: ipAddress = '' } = request;
    const key = await authenticate({ headers, url, ipAddress }, keys, unknownKeys).catch((error: unknown) => {
      if (error instanceof Problem && error.code === 'rate_limited') response.set(limitHeaders(exhausted));
      throw error;
    });
    const allowance = await limiter.take(key.id);
    response.locals.caller = createCaller(key, allowance, parts);
    for (const [name, value] of Object.entries(limitHeaders(allowance))) response.setHeader(name, value);
    if (!allowance.accepted) throw new Problem('rate_limited');
    if (key.organization.plan !== 'team') throw new Problem('plan_required');
    next();
  };
}

/** The request does not match the contract: the problem says what is valid. */
function rejectInvalid(
  error: RequestValidationError,
  request: Request,
  _: Response,
  next: (error: unknown) => void,
): void {
  next(invalidRequest(error, request));
}

/**
 * OPTIONS needs no key. Not a route of the router's own, which would decode the path of every request before the key is
 * checked, and would respond to a path that it cannot decode.
 */
function sendOptions(allowed: ReadonlyMap<string, string>): RequestHandler {
  const forms = [...allowed].map(([path, methods]) => ({ methods, form: pathForm(path) }));
  return (request, response, next) => {
    const found = request.method === 'OPTIONS' && forms.find(({ form }) => form.test(request.path));
    if (!found) return next();
    response.set('Allow', found.methods).status(204).end();
  };
}

const rejectMethod =
  (allow: string): RequestHandler =>
  ({ method, path }) => {
    throw new Problem('method_not_allowed', { method, allow, advice: methodAdvice(method, path) });
  };

function renderProblem({ baseUrl }: Parts): ErrorRequestHandler {
  return (error: unknown, _, response, next) => {
    const problem = toProblem(error);
    response.locals.problem = problem;
    if (problem.status >= 500) response.locals.failure = problem.cause;
    // The deadline has already sent a response.
    if (response.writableEnded) return;
    // The response has begun: close the connection, so that nobody takes the response for complete.
    if (response.headersSent) return next(error);
    sendProblem(response, problem, baseUrl());
  };
}
