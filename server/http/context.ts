/** The state of a request, in `response.locals`, which every middleware can access. */
import type { Response } from 'express';
import type { Caller } from '../keys/caller.ts';
import type { AuthenticatedKey } from '../keys/key-row.ts';
import type { Problem } from '../problems/problem.ts';

declare global {
  // Express's own place for this.
  namespace Express {
    interface Locals {
      requestId: string;
      /** Why the request was rejected. */
      problem?: Problem;
      /** The contract's id of the operation that was performed. */
      operation?: string;
      /** The status of an operation that an agent's tool performed: the response itself is 200. */
      toolStatus?: number;
      /** The key of a request to the API. */
      key?: AuthenticatedKey;
      /** The caller, once the key's allowance and plan are checked. */
      caller?: Caller;
      /** The member who is signed in to the settings. */
      memberId?: string;
      /** What went wrong on our side. */
      failure?: unknown;
    }
  }
}

/** Notes why the request was rejected, for the log and the usage of its key. */
export function noteProblem(locals: Pick<Express.Locals, 'problem' | 'failure'>, problem: Problem): void {
  locals.problem = problem;
  if (problem.status >= 500) locals.failure = problem.cause;
}

/** The key of an authenticated request. */
export function keyOf({ locals: { key } }: Response): AuthenticatedKey {
  if (!key) throw new Error('This request was not authenticated.');
  return key;
}

/** The caller of an admitted request. */
export function callerOf({ locals: { caller } }: Response): Caller {
  if (!caller) throw new Error('This request was not admitted.');
  return caller;
}
