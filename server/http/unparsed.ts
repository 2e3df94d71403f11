/** Rejects what Node could not parse as a request, and CONNECT, with a problem written directly to the connection. */
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { freshId } from '../records/public-id.ts';
import { Problem } from '../problems/problem.ts';
import { slowRequests } from '../limits/slow-requests.ts';
import { noteProblem } from './context.ts';
import { remove } from './in-flight.ts';
import type { Log } from './log.ts';

type Exchange = { request: IncomingMessage; response: ServerResponse & { locals?: Partial<Express.Locals> } };

export type TrackedResponses = ReturnType<typeof trackResponses>;

/** Tracks the responses in flight, and adds `Connection: close` to them once the server no longer listens. */
export function trackResponses(server: Server) {
  const exchanges: Exchange[] = [];
  const answered = new WeakMap<Duplex, IncomingMessage>();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (!server.listening) response.setHeader('Connection', 'close');
    const exchange = { request, response };
    exchanges.push(exchange);
    response.on('close', () => {
      remove(exchanges, exchange);
      if (!request.complete) answered.set(request.socket, request);
    });
  });
  return {
    inFlight: () => exchanges.map(({ response }) => response),
    /** The responses pending on this connection, in order. */
    of: (socket: Duplex): Exchange[] => exchanges.filter(({ request }) => request.socket === socket),
    /** Whether the request that is arriving on this connection already has its response, such as one with a wrong key. */
    isAnswered: (socket: Duplex): boolean => answered.get(socket)?.complete === false,
  };
}

type ClientError = Error & { code?: string };
type Context = { publicUrl: string; log: Log };

export function rejectUnparsed(server: Server, responses: TrackedResponses, context: Context): void {
  const rejected = new WeakSet<Duplex>();
  server.on('clientError', (clientError: ClientError, socket: Duplex): void => {
    const owed = responses.of(socket);
    // Only a request whose body is incomplete can have failed; responses to those before it come first.
    const failed = owed.find(({ request }) => !request.complete);
    if (clientError.code === 'ERR_HTTP_REQUEST_TIMEOUT' && failed && slowRequests.has(failed.request)) return;
    if (clientError.code === 'ECONNRESET' || failed?.response.headersSent || responses.isAnswered(socket)) {
      socket.destroy();
      return;
    }
    // Anything else that arrives causes another error.
    if (rejected.has(socket)) return;
    rejected.add(socket);
    const problem = problemOf(clientError);
    // For the log and the key's usage: the response itself is written to the socket.
    const { locals = {} } = failed?.response ?? {};
    noteProblem(locals, problem);
    if (failed) failed.response.statusCode = problem.status;
    const { requestId = freshId('request') } = locals;
    const others = owed.filter((exchange) => exchange !== failed);
    void Promise.allSettled(others.map(({ response }) => once(response, 'close'))).then(() =>
      reject(socket, problem, { ...context, requestId, reason: clientError.code }),
    );
  });
  server.on('connect', (_: IncomingMessage, socket: Socket) => {
    // Node has removed its own listener, without which a connection that is reset would end the process.
    socket.on('error', () => undefined);
    const requestId = freshId('request');
    reject(socket, new Problem('malformed_request', { fault: 'connect' }), { ...context, requestId });
  });
}

const parserErrors: Readonly<Record<string, (message: string) => Problem | undefined>> = {
  // Node also uses this code for chunked with a Content-Length: there, the encoding is supported; the request is malformed.
  HPE_INVALID_TRANSFER_ENCODING: (message) =>
    message.includes('Content-Length') ? undefined : new Problem('unsupported_transfer_encoding'),
  HPE_HEADER_OVERFLOW: () => new Problem('headers_too_large'),
  ERR_HTTP_REQUEST_TIMEOUT: () => new Problem('request_timeout'),
};

const problemOf = ({ code = '', message }: ClientError): Problem =>
  parserErrors[code]?.(message) ?? new Problem('malformed_request', { fault: 'syntax' });

/** Long enough for the client to read the response. */
const closingMs = 2_000;

type Rejection = Context & { requestId: string; reason?: string | undefined };

function reject(socket: Duplex, problem: Problem, { publicUrl, log, requestId, reason }: Rejection): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(problem.body(requestId, publicUrl));
  const { status, title, code } = problem;
  const head = [
    `HTTP/1.1 ${status} ${title}`,
    'Content-Type: application/problem+json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Date: ${new Date().toUTCString()}`,
    `X-Request-Id: ${requestId}`,
    'Cache-Control: private, no-cache',
    'X-Content-Type-Options: nosniff',
    'Connection: close',
  ];
  log({ requestId, status, code, reason });
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  // A client that never closes its end would hold the descriptor forever.
  const timer = setTimeout(() => socket.destroy(), closingMs).unref();
  socket.once('close', () => clearTimeout(timer));
}
