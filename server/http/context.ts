/** The state of a request, in `response.locals`, which every middleware can access. */
import type { Response } from 'express';
import type { Caller } from '../keys/caller.ts';
import type { Problem } from '../problems/problem.ts';

declare global {
  // Express's own place for this.
  namespace Express {
    interface Locals {
      requestId: string;
      /** Why the request was rejected. */
      problem?: Problem;
      /** The operation that an agent's tool performed, and why that failed. */
      performed?: { operation: string | undefined; problem?: Problem };
      /** The caller of the API, once the key is authenticated. */
      caller?: Caller;
      /** The member who is signed in to the settings. */
      memberId?: string;
      /** What went wrong on our side. */
      failure?: unknown;
    }
  }
}

/** The caller of an authenticated request. */
export function callerOf(response: Response): Caller {
  const { caller } = response.locals;
  if (!caller) throw new Error('This request was not authenticated.');
  return caller;
}
