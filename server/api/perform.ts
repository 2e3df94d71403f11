/**
 * Performs an operation for any caller: HTTP and the MCP tools only pass in the input and return the reply. admit() takes
 * the caller's allowance, once for each operation; whether the caller may call at all is checked here again.
 */
import { Caller } from '../keys/caller.ts';
import type { CallerParts, Exchange } from '../keys/caller.ts';
import type { AuthenticatedKey } from '../keys/key-row.ts';
import type { RateLimiter } from '../limits/rate-limit.ts';
import { Problem } from '../problems/problem.ts';
import type { AnyReply, Operation } from './operations.ts';
import type { Input } from './parse.ts';

export type AdmissionParts = CallerParts & { limiter: RateLimiter };

/** Takes one request from the key's allowance; if none is left, requireAdmission() rejects. `exchange`: see Caller. */
export async function admit(key: AuthenticatedKey, parts: AdmissionParts, exchange?: Exchange): Promise<Caller> {
  const taken = parts.limiter.take(key.id);
  return new Caller(key, taken instanceof Promise ? await taken : taken, parts, exchange);
}

/** Problems: rate_limited, plan_required. */
export function requireAdmission({ allowance, organization, planContact }: Caller): void {
  if (!allowance.accepted) throw new Problem('rate_limited');
  if (organization.plan !== 'team') throw new Problem('plan_required', { contact: planContact });
}

/** Problems: those of an invalid request, and the handler's. */
export async function perform(operation: Operation, input: Input, caller: Caller): Promise<AnyReply> {
  requireAdmission(caller);
  caller.spend();
  const request = operation.parse(input);
  return caller.run(() => operation.handler(request, caller), operation.costOf(request));
}
