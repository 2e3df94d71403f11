/** Gives each request an id, a line in the log and a place in the usage of its key. */
import type { Request, Response } from 'express';
import type { AuthenticatedKey } from '../keys/key-row.ts';
import type { UsageEvent, UsageLog } from '../keys/usage.ts';
import { Problem } from '../problems/problem.ts';
import { freshId, publicId } from '../records/public-id.ts';
import { describeError } from './log.ts';
import type { Log } from './log.ts';
import { operationAt } from './routes.ts';

/** Longer than the path of any route. Otherwise, a client without a key could add 16 KB to the log with each request. */
const loggedCharacters = 500;

export function identify({ log, usage }: { log: Log; usage: UsageLog }) {
  return (request: Request, response: Response): void => {
    const requestId = freshId('request');
    const startedAt = performance.now();
    // Inside a mounted router, such as the settings', `url` is shorter.
    const { method, path } = request;
    response.locals.requestId = requestId;
    response.setHeader('X-Request-Id', requestId);
    response.setHeader('Cache-Control', 'private, no-cache');
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.on('close', () => {
      const { key, memberId, failure, operation } = response.locals;
      log({
        requestId,
        method,
        path: path.slice(0, loggedCharacters),
        operation,
        status: statusOf(response),
        ms: Math.round((performance.now() - startedAt) * 10) / 10,
        ...(key && shownIds(key)),
        memberId: memberId && publicId('member', memberId),
        ...(response.writableFinished ? {} : { aborted: true }),
        ...(failure ? { error: describeError(failure) } : {}),
      });
      if (key && !isStreamProbe(request, response)) usage.record(usageOf(method, path, response, key));
    });
    // HTTP/1.0 has no chunked encoding: the rest may be part of this request (RFC 9112, 6.1).
    if (request.httpVersion === '1.0' && 'transfer-encoding' in request.headers)
      response.setHeader('Connection', 'close');
    requireUnambiguousHeaders(request);
  };
}

/** Following the protocol, an agent asks for an event stream, and 405 tells it that there is none: nothing failed. */
const isStreamProbe = ({ method, headers }: Request, { statusCode }: Response): boolean =>
  method === 'GET' && statusCode === 405 && 'mcp-protocol-version' in headers;

/** As proxies log it: the client closed the connection before a response was sent. */
const clientClosed = 499;

/** A status other than the default was sent, or set by rejectUnparsed(). */
const statusOf = ({ headersSent, statusCode }: Response): number =>
  headersSent || statusCode !== 200 ? statusCode : clientClosed;

const shown = new WeakMap<AuthenticatedKey, { keyId: string; organizationId: string }>();

function shownIds(key: AuthenticatedKey) {
  const ids = shown.get(key) ?? {
    keyId: publicId('key', key.id),
    organizationId: publicId('organization', key.organization.id),
  };
  shown.set(key, ids);
  return ids;
}

/**
 * What a key's usage records about a request: which fields were wrong, but not their values. A tool call counts as the
 * operation that it performed, with that operation's status.
 */
function usageOf(method: string, path: string, response: Response, key: AuthenticatedKey): UsageEvent {
  const { problem, operation, toolStatus, requestId } = response.locals;
  return {
    keyId: key.id,
    organizationId: key.organization.id,
    // A request rejected before it was routed, such as by the rate limit, is looked up by its path.
    operation: operation ?? operationAt(method, path),
    status: toolStatus ?? response.statusCode,
    code: problem?.code,
    fields: problem?.errors,
    requestId,
  };
}

/** RFC 9110, 7.2: a name or an address, and a port. */
const hostForm = /^(?:\[[\w.:%-]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i;

/** Rejects what a proxy on the way may interpret differently: of duplicate headers, Node keeps the first or joins them. */
function requireUnambiguousHeaders({ headers, rawHeaders, httpVersion }: Request): void {
  // Node itself rejects what does not end in chunked, and ignores the encodings before it.
  if (headers['transfer-encoding']?.includes(',')) throw new Problem('unsupported_transfer_encoding');
  const hosts = valuesOf('host', rawHeaders);
  if (!hosts.some(Boolean) && httpVersion === '1.1') throw new Problem('malformed_request', { fault: 'no_host' });
  if (hosts.length > 1) throw new Problem('malformed_request', { fault: 'two_hosts' });
  if (!hostForm.test(hosts[0] ?? '')) throw new Problem('malformed_request', { fault: 'bad_host' });
  if (valuesOf('authorization', rawHeaders).length > 1) {
    throw new Problem('malformed_request', { fault: 'two_authorizations' });
  }
  if (valuesOf('idempotency-key', rawHeaders).length > 1) {
    throw new Problem('malformed_request', { fault: 'two_idempotency_keys' });
  }
}

/** Every value of a header. Node's `headersDistinct` would build a list for every header of the request. */
function valuesOf(header: string, rawHeaders: readonly string[]): string[] {
  const values: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length === header.length && name.toLowerCase() === header) values.push(rawHeaders[index + 1] ?? '');
  }
  return values;
}
