/**
 * Mounts the operations of the contract through @ts-rest/express, which routes requests by method and path, and forwards
 * errors. It gets no schemas, because perform() parses for HTTP and tools alike, and no response bodies, because replies
 * are already serialized: they are sent here, and ts-rest ending the response once more has no effect.
 */
import { pipeline } from 'node:stream/promises';
import { initContract } from '@ts-rest/core';
import type { AppRoute, AppRouter } from '@ts-rest/core';
import { createExpressEndpoints } from '@ts-rest/express';
import type { Express, Request, Response } from 'express';
import { bodyOf } from '../../contract/operations.ts';
import { isNotModified } from '../api/conditional.ts';
import { operations } from '../api/operations.ts';
import type { AnyReply, Operation } from '../api/operations.ts';
import { perform } from '../api/perform.ts';
import { hasBody, readBody, requireNoBody } from './body.ts';
import type { Shares } from '../limits/concurrency.ts';
import { callerOf } from './context.ts';

const { noBody } = initContract();
const responses: AppRoute['responses'] = { 200: noBody(), 201: noBody(), 204: noBody(), 304: noBody() };

export function mountOperations(app: Express, shares: Shares): void {
  const routes: AppRouter = {};
  const endpoints: Record<string, object> = {};
  for (const operation of operations) {
    const { method, path } = operation.route;
    routes[operation.id] = method === 'GET' ? { method, path, responses } : { method, path, responses, body: null };
    endpoints[operation.id] = endpointOf(operation, shares);
  }
  // ts-rest types the endpoints of one known contract; these are made for the routes of any.
  createExpressEndpoints<AppRouter>(routes, endpoints as never, app, { logInitialization: false });
}

/** One function for all steps, because an Express layer for each would cost as much as the step. */
function endpointOf(operation: Operation, shares: Shares) {
  const { responses: known } = operation.route;
  const takesBody = bodyOf(operation.route) !== undefined;
  // `req.query` is a getter that parses the query string again each time.
  return async ({ req, res, query }: { req: Request; res: Response; query: object }) => {
    res.locals.operation = operation.id;
    const body = takesBody ? await readBody(req, res, shares) : undefined;
    if (!takesBody && hasBody(req)) await requireNoBody(req);
    const { params, headers } = req;
    const caller = callerOf(res);
    const reply = await perform(operation, { params, query, headers, body }, caller);
    const isSame = 304 in known && isNotModified(headers['if-none-match'], reply.etag);
    return { status: await send(res, reply, { isSame, baseUrl: caller.baseUrl }), body: undefined };
  };
}

/** Returns the status that was sent. */
async function send(
  response: Response,
  { status, text, etag, location, next, replayed }: AnyReply,
  { isSame, baseUrl }: { isSame: boolean; baseUrl: string },
): Promise<number> {
  const headers: Record<string, string | number> = {};
  if (etag !== undefined) headers.ETag = etag;
  const bare = isSame ? 304 : status;
  if (bare === 304 || bare === 204) {
    response.writeHead(bare, headers).end();
    return bare;
  }
  headers['Content-Type'] = 'application/json; charset=utf-8';
  const pieces = typeof text === 'string' ? [text] : text;
  const length = pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
  headers['Content-Length'] = length;
  if (location !== undefined) headers.Location = baseUrl + location;
  if (next) headers.Link = `<${next}>; rel="next"`;
  if (replayed) headers['Idempotency-Replayed'] = 'true';
  response.writeHead(status, headers);
  // Node sends no body in response to HEAD.
  if (response.req.method === 'HEAD') response.end();
  // Rejects if the client leaves early.
  else if (length > atOnce) await pipeline(pieces, response).catch(() => undefined);
  else response.end(pieces.length === 1 ? pieces[0] : joined(pieces, length));
  return status;
}

/** In bytes. Longer responses are sent only as fast as the client reads, so little is copied at a time. */
const atOnce = 256 * 1024;

/** Encoded piece by piece: V8 is slow to encode a string with a character beyond Latin-1, and most pages contain one. */
function joined(pieces: readonly string[], length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let end = 0;
  for (const piece of pieces) end += bytes.write(piece, end);
  return bytes;
}
