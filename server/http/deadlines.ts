/** Deadlines for responses, so callers do not wait for a database that hangs. */
import type { Request, Response } from 'express';
import { remove } from './in-flight.ts';

const sweptEveryMs = 500;

/**
 * Calls `onLate` for each response that has not begun in time, with one timer for all. While the body is still arriving, the
 * server's own timeout (408) applies instead.
 */
export function responseDeadline(
  limitMs: number,
  onLate: (request: Request, response: Response) => void,
): (request: Request, response: Response) => void {
  const open: { request: Request; response: Response; dueAtMs: number }[] = [];
  let timer: NodeJS.Timeout | undefined;
  const sweep = () => {
    const nowMs = performance.now();
    for (const due of open.filter(({ dueAtMs }) => dueAtMs <= nowMs)) {
      due.dueAtMs = due.request.complete ? Number.POSITIVE_INFINITY : nowMs + limitMs;
      if (due.request.complete && !due.response.headersSent) onLate(due.request, due.response);
    }
    if (open.length > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  return (request, response) => {
    const opened = { request, response, dueAtMs: performance.now() + limitMs };
    open.push(opened);
    timer ??= setInterval(sweep, sweptEveryMs).unref();
    response.on('close', () => remove(open, opened));
  };
}
