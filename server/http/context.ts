/** What is known of a request on its way: kept beside it, so that nothing has to be guessed from its shape. */
import type { Request } from 'express';
import type { Caller } from '../keys/caller.ts';

const callers = new WeakMap<Request, Caller>();

export function admit(request: Request, caller: Caller): void {
  callers.set(request, caller);
}

/** The caller of an authenticated request. */
export function callerOf(request: Request): Caller {
  const caller = callers.get(request);
  if (!caller) throw new Error('This request was not authenticated.');
  return caller;
}

export const knownCaller = (request: Request): Caller | undefined => callers.get(request);
