/** Who may call: the key first (401), then the rate limit (429), then the plan (403). Later steps know the caller. */
import type { Request, RequestHandler, Response } from 'express';
import { rateLimit } from '../../contract/limits.ts';
import { authenticate, requireLive } from '../keys/authenticate.ts';
import type { Caller, Exchange } from '../keys/caller.ts';
import type { KeyDirectory } from '../keys/directory.ts';
import type { AuthenticatedKey } from '../keys/key-row.ts';
import { admit, requireAdmission } from '../api/perform.ts';
import type { AdmissionParts } from '../api/perform.ts';
import { Problem } from '../problems/problem.ts';

const { limit, windowSeconds } = rateLimit;

type Parts = AdmissionParts & { keys: KeyDirectory };

async function requireKey(request: Request, response: Response, { keys }: Parts): Promise<AuthenticatedKey> {
  const key = await authenticate(request, keys);
  // Noted first, so what a revoked key still sends appears in its usage, where an admin looks for it.
  response.locals.key = key;
  requireLive(key);
  return key;
}

/** Takes one request from the key's allowance, and reports what is left in the headers. */
export async function admitOne(
  key: AuthenticatedKey,
  { response, isOnlyOperation }: Exchange & { response: Response },
  parts: AdmissionParts,
): Promise<Caller> {
  const caller = await admit(key, parts, { response, isOnlyOperation });
  const { remaining, resetSeconds } = caller.allowance;
  // The IETF draft's two fields, and the three older ones.
  response.setHeader('RateLimit-Policy', `"default";q=${limit};w=${windowSeconds}`);
  response.setHeader('RateLimit', `"default";r=${remaining};t=${resetSeconds}`);
  response.setHeader('X-RateLimit-Limit', limit);
  response.setHeader('X-RateLimit-Remaining', remaining);
  response.setHeader('X-RateLimit-Reset', resetSeconds);
  requireAdmission(caller);
  return caller;
}

/** Every request to the API counts against the key's allowance, even if no operation serves it. */
export const admitCaller =
  (parts: Parts): RequestHandler =>
  async (request, response, next) => {
    response.locals.caller = await admitOne(
      await requireKey(request, response, parts),
      { response, isOnlyOperation: true },
      parts,
    );
    next();
  };

/** Checks only the key and the plan: an agent's tool calls count against the allowance, its handshakes do not. */
export const admitAgent =
  (parts: Parts): RequestHandler =>
  async (request, response, next) => {
    const { origin } = request.headers;
    if (origin !== undefined && origin !== new URL(parts.baseUrl).origin) {
      const message = `Requests from web pages on ${origin.slice(0, 100)} are rejected: keys do not belong in browsers.`;
      response.status(403).json(rpcError(-32_000, message));
      return;
    }
    const { organization } = await requireKey(request, response, parts);
    if (organization.plan !== 'team') throw new Problem('plan_required', { contact: parts.planContact });
    next();
  };

/** A JSON-RPC response to a message that is rejected unprocessed. */
export const rpcError = (code: number, message: string) => ({ jsonrpc: '2.0', error: { code, message }, id: null });
