/** The whole HTTP surface, in the order in which a request passes through it. */
import express from 'express';
import type { ErrorRequestHandler, Express, RequestHandler } from 'express';
import type { RateLimiter } from '../../limits/rate-limit.ts';
import { admitAgent, admitCaller } from '../../http/admission.ts';
import { responseDeadline } from '../../http/deadlines.ts';
import { mountOperations } from '../../http/endpoints.ts';
import { warnAboutProxies } from '../../http/connections.ts';
import { identify } from '../../http/identify.ts';
import { patchTypes } from '../../http/body.ts';
import { compress } from '../../http/compress.ts';
import { noteProblem } from '../../http/context.ts';
import { describeError } from '../../http/log.ts';
import type { Log } from '../../http/log.ts';
import { methodAdvice, pathPattern, routeHint } from '../../http/routes.ts';
import { Problem } from '../../problems/problem.ts';
import { DeadlineError, toProblem } from '../../problems/translate.ts';
import { sendProblem } from '../../http/send-problem.ts';
import { parseQuery } from '../../text/query.ts';
import { sendErrorPage } from '../../web/settings/error-page.ts';
import type { RouterParts } from '../../web/settings/services.ts';
import { rejectOtherMethods } from '../../problems/method-not-allowed.ts';
import { siteRoutes, unknownPage } from '../../web/site.ts';

export type Parts = Omit<RouterParts, 'onError'> & {
  /** Limits OAuth requests, and what agents send besides tool calls. */
  handshakes: RateLimiter;
  log: Log;
  /** How many trusted proxies are in front, each of which appends to X-Forwarded-For. */
  trustedProxies: number;
  /** Where vulnerabilities are reported: an https or mailto URL. */
  securityContact?: string | undefined;
  warn: (message: string) => void;
};

export function createApp(parts: Parts): Express {
  const app = express();
  app
    .disable('x-powered-by')
    .disable('etag')
    .enable('case sensitive routing')
    .set('query parser', parseQuery)
    .set('trust proxy', parts.trustedProxies);
  const allowed = new Map<string, string>();

  // The API comes first, because anything before it would slow down every request to it.
  app.use(receive(parts, allowed));
  app.use(inApi(admitCaller(parts)));
  mountOperations(app, parts.shares);
  const mcp = onDemand(async () => (await import('../../http/mcp.ts')).mcpEndpoint(parts));
  app.use('/mcp', admitAgent(parts));
  app.post('/mcp', mcp);

  app.get('/healthz', (_, response) => void response.json({ status: 'ok' }));
  app.get('/readyz', readiness(parts));
  mountPages(app, parts);
  for (const [path, methods] of rejectOtherMethods(app.router, methodAdvice)) allowed.set(path, methods);

  app.use(unknownPage);
  app.use(({ path }) => {
    throw new Problem('route_not_found', { hint: routeHint(path, allowed.keys()) });
  });
  app.use(renderProblem(parts));
  return app;
}

/** Like `use('/v1', …)`, but without the router shortening, restoring and reparsing the URL each time. */
const inApi =
  (admit: RequestHandler): RequestHandler =>
  (request, response, next) =>
    /^\/v1(?:\/|$)/.test(request.path) ? admit(request, response, next) : next();

/** What happens to every request, in one function: a router layer for each step would cost as much as the step. */
function receive(parts: Parts, allowed: ReadonlyMap<string, string>): RequestHandler {
  const noticeProxy = warnAboutProxies(parts);
  const identified = identify(parts);
  const limitTime = responseDeadline(deadlineMs, (request, response) => {
    // In a checkout, the first request for the client compiles it, which may take longer and needs no database.
    if (request.originalUrl.startsWith('/client')) return;
    const late = toProblem(new DeadlineError(`No response within ${deadlineMs} ms.`));
    noteProblem(response.locals, late);
    if (request.originalUrl.startsWith('/settings')) sendErrorPage(late, request, response, () => {});
    else sendProblem(response, late, parts.baseUrl);
  });
  const sendOptions = optionsOf(allowed);
  return (request, response, next) => {
    noticeProxy(request);
    identified(request, response);
    limitTime(request, response);
    compress(request, response, request.method === 'OPTIONS' ? () => sendOptions(request, response, next) : next);
  };
}

const documents = ['/openapi.json', '/openapi-3.0.json', '/openapi.yaml', '/swagger-2.0.json'];

/** For people, and for the tools of API users. */
function mountPages(app: Express, parts: Parts): void {
  const { baseUrl, log } = parts;
  if (parts.secure) app.use(onlyHttps);
  const openApi = onDemand(async () => (await import('../../http/documents/routes.ts')).openApiRoutes(baseUrl));
  for (const path of documents) app.get(path, openApi);
  app.use(
    '/docs',
    onDemand(async () => (await import('../../web/docs/router.ts')).docs(baseUrl)),
  );
  app.use(siteRoutes(parts));
  app.use(
    '/.well-known',
    onDemand(async () => (await import('../../http/oauth.ts')).discoveryRoutes(baseUrl)),
  );
  app.use(
    '/oauth',
    onDemand(async () => (await import('../../http/oauth.ts')).oauthRoutes(parts)),
  );
  const onError = (error: unknown) =>
    log({ message: 'settings failed outside a request', error: describeError(error) });
  app.use(
    '/settings',
    onDemand(async () => (await import('../../web/settings/routes.ts')).settingsRouter({ ...parts, onError })),
  );
}

const oneYear = 365 * 86_400;

/** For browsers, which would otherwise open a typed URL over plain HTTP. */
const onlyHttps: RequestHandler = (_, response, next) => {
  response.set('Strict-Transport-Security', `max-age=${oneYear}`);
  next();
};

/** A part of the app that is loaded by its first request: a process that serves only the API never pays for it. */
function onDemand(load: () => Promise<RequestHandler>): RequestHandler {
  let loading: Promise<RequestHandler> | undefined;
  return async (request, response, next) => {
    loading ??= load().catch((error: unknown) => {
      // Its files may be readable later, such as when fewer are open.
      loading = undefined;
      throw error;
    });
    return (await loading)(request, response, next);
  };
}

const deadlineMs = 11_000;

function readiness({ database }: Parts): RequestHandler {
  return async (_, response) => {
    // An empty database, such as after a failover, can serve nothing.
    await database.control.query('select from access_epoch');
    response.json({ status: 'ready' });
  };
}

/**
 * OPTIONS needs no key. Not a route of the router, which would decode the path of every request before the key is checked,
 * and reject one that it cannot decode.
 */
function optionsOf(allowed: ReadonlyMap<string, string>): RequestHandler {
  return ({ path }, response, next) => {
    // `OPTIONS *` is about the whole service (RFC 9110, 9.3.7).
    const found = [...allowed].filter(([known]) => path === '*' || pathPattern(known).test(path));
    if (found.length === 0) return next();
    const methods = new Set(found.flatMap(([, allow]) => allow.split(', ')));
    if (methods.has('PATCH')) response.set('Accept-Patch', patchTypes.join(', '));
    response
      .set('Allow', [...methods].join(', '))
      .status(204)
      .end();
  };
}

function renderProblem({ baseUrl, shares }: Parts): ErrorRequestHandler {
  // With fewer parameters, Express would not take it for an error handler.
  return async (error: unknown, _, response, _next) => {
    const problem = toProblem(error);
    noteProblem(response.locals, problem);
    await shares.rejections.hold(response.locals.key?.id, problem.status);
    // A response was already sent at the deadline.
    if (response.writableEnded) return;
    // The response has begun: close the connection, so nobody takes it for complete. Express would print the error, too.
    if (response.headersSent) response.destroy();
    else sendProblem(response, problem, baseUrl);
  };
}
