/** Deadlines for responses, so that callers do not wait for a database that hangs. */
import type { Request, RequestHandler, Response } from 'express';

const sweptEveryMs = 500;

/**
 * Calls `onLate` for each response that has not begun in time. One timer for all of them: the responses are kept in the
 * order in which they are due. A body that is still arriving is subject to the server's own time limit, a 408.
 */
export function limitTime(limitMs: number, onLate: (request: Request, response: Response) => void): RequestHandler {
  const open = new Map<Response, { request: Request; dueAtMs: number }>();
  let timer: NodeJS.Timeout | undefined;
  const sweep = () => {
    const nowMs = performance.now();
    for (const [response, { request, dueAtMs }] of open) {
      if (dueAtMs > nowMs) break;
      open.delete(response);
      if (!request.complete) open.set(response, { request, dueAtMs: nowMs + limitMs });
      else if (!response.headersSent) onLate(request, response);
    }
    if (open.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  return (request, response, next) => {
    open.set(response, { request, dueAtMs: performance.now() + limitMs });
    timer ??= setInterval(sweep, sweptEveryMs).unref();
    response.once('close', () => open.delete(response));
    next();
  };
}
