/**
 * Performs an operation, for every caller: HTTP and the agents' tools only bring the input here, and the reply back. What a
 * caller may do at all is decided by admit(), once for each operation.
 */
import { createCaller } from '../keys/caller.ts';
import type { Caller, CallerParts } from '../keys/caller.ts';
import type { AuthenticatedKey } from '../keys/key-row.ts';
import type { RateLimiter } from '../limits/rate-limit.ts';
import { Problem } from '../problems/problem.ts';
import type { AnyReply, Operation } from './operations.ts';
import type { Input } from './parse.ts';

export type AdmissionParts = CallerParts & { limiter: RateLimiter };

/** Takes one request of the key's allowance. The caller is not accepted if there was none left: see requireAdmission(). */
export async function admit(key: AuthenticatedKey, { limiter, ...parts }: AdmissionParts): Promise<Caller> {
  const taken = limiter.take(key.id);
  return createCaller(key, taken instanceof Promise ? await taken : taken, parts);
}

/** Problems: rate_limited, plan_required. */
export function requireAdmission({ allowance, organization, planContact }: Caller): void {
  if (!allowance.accepted) throw new Problem('rate_limited');
  if (organization.plan !== 'team') throw new Problem('plan_required', { contact: planContact });
}

/** One caller performs one operation: another one needs an allowance of its own. */
const spent = new WeakSet<Caller>();

/** Problems: those of an invalid request, and the handler's. */
export async function perform(operation: Operation, input: Input, caller: Caller): Promise<AnyReply> {
  requireAdmission(caller);
  if (spent.has(caller)) throw new Error('An operation needs an allowance of its own.');
  spent.add(caller);
  const request = operation.parse(input);
  return caller.run(() => operation.handler(request, caller), { isLarge: operation.isLarge(request) });
}
