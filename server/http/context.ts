/** What is known of a request on its way: in `response.locals`, which every step of it has at hand. */
import type { Response } from 'express';
import type { Caller } from '../keys/caller.ts';

declare global {
  // Express's own place for this.
  namespace Express {
    interface Locals {
      requestId: string;
      /** operationId of the contract, once the route is known. */
      operation?: string;
      /** Who calls the API, once the key is known. */
      caller?: Caller;
      /** Who is signed in to the settings. */
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
