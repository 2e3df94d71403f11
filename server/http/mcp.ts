/** POST /mcp: tools for agents, with the same keys, limits and operations as the API. */
import type { Request as HttpRequest, RequestHandler, Response } from 'express';
import { readVersion } from '../files.ts';
import type { RateLimiter } from '../limits/rate-limit.ts';
import { handleMcp } from '../mcp/server.ts';
import type { Calling } from '../mcp/tool.ts';
import { createTools } from '../mcp/tools.ts';
import { sumProposals } from '../api/proposal-sums.ts';
import { operationOf } from '../api/operations.ts';
import { perform } from '../api/perform.ts';
import type { AdmissionParts } from '../api/perform.ts';
import { Problem } from '../problems/problem.ts';
import { admitOne, rpcError } from './admission.ts';
import { readBody } from './body.ts';
import { keyOf, noteProblem } from './context.ts';

/** `handshakes` counts every message except tool calls, which count as operations. */
type Parts = AdmissionParts & { handshakes: RateLimiter };

export function mcpEndpoint({ handshakes, ...parts }: Parts): RequestHandler {
  const version = readVersion();
  const tools = createTools(sumProposals);
  return async (request, response) => {
    const message = await readBody(request, response, parts.shares);
    // The protocol has had no batches since 2025-06-18; each message is counted separately.
    if (Array.isArray(message)) {
      response.status(400).json(rpcError(-32_600, 'Batches are not supported. Send one message in each request.'));
      return;
    }
    const takeHandshake = async () => {
      if (!(await handshakes.take(keyOf(response).id)).accepted) throw new Problem('rate_limited');
    };
    let isCounted = Reflect.get(Object(message), 'method') !== 'tools/call';
    if (isCounted) await takeHandshake();
    const reply = await handleMcp(webRequest(request), message, {
      version,
      tools,
      begin() {
        isCounted = true;
        return beginCall(response, parts);
      },
      onEnd(problem) {
        noteEnd(response, problem);
        return parts.shares.rejections.hold(keyOf(response).id, problem?.status ?? 200);
      },
    });
    // A result is short, and complete once its tool has ended.
    const text = await reply.text();
    // A tool call that the protocol rejects counts as a handshake.
    if (!isCounted) await takeHandshake();
    response.status(reply.status);
    // Whether the connection stays open is up to the server and the client; caching is as for every other response.
    for (const [name, value] of reply.headers)
      if (name !== 'connection' && name !== 'cache-control') response.set(name, value);
    response.end(text);
  };
}

/** Takes an allowance for the call; each operation after the first takes another. Problems: those of requireAdmission(). */
async function beginCall(response: Response, parts: AdmissionParts): Promise<Calling> {
  const key = keyOf(response);
  const exchange = { response, isOnlyOperation: false };
  let next: ReturnType<typeof admitOne> | undefined = admitOne(key, exchange, parts);
  const { scheduler } = await next;
  const call: Calling['call'] = async (route, input) => {
    const operation = operationOf(route);
    response.locals.operation = operation.id;
    const caller = await (next ?? admitOne(key, exchange, parts));
    next = undefined;
    return perform(operation, input, caller);
  };
  return { call, pause: scheduler.pauses(key.organization.id) };
}

function noteEnd({ locals }: Response, problem: Problem | undefined): void {
  locals.toolStatus = problem?.status ?? 200;
  if (problem) noteProblem(locals, problem);
}

/** Without the body, which is already parsed and passed to the SDK separately. */
function webRequest({ method, headers }: HttpRequest): Request {
  const entries = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined || name === 'content-length' || name === 'authorization'
      ? []
      : [[name, [value].flat().join(', ')]],
  );
  return new Request('http://localhost/mcp', { method, headers: entries });
}
