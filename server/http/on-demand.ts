/** Parts of the app that are loaded by their first request: a process that serves only the API never pays for them. */
import type { RequestHandler } from 'express';

/** Requests that arrive while the part is loading wait for it. */
export function onDemand(load: () => Promise<RequestHandler>): RequestHandler {
  let loading: Promise<RequestHandler> | undefined;
  return async (request, response, next) => {
    loading ??= load();
    const handler = await loading;
    return handler(request, response, next);
  };
}
