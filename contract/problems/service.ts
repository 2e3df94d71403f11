/** Server-side failures. */
import { retryAfter } from '../limits.ts';
import { plainRow, row } from './row.ts';

const tryAgain = `Try again in ${retryAfter.unavailable} seconds.`;

const reasons = {
  database: 'The service cannot use its database.',
  busy: 'Too many of your requests are running at once. Wait for earlier ones to finish.',
  deadline: 'The request took too long.',
  client_package: 'The client package is not available.',
  long: 'These records are too long for one page. Send a smaller "limit".',
  slow: 'The query took too long. Send a smaller "limit", or add a filter.',
};

/** Why the service cannot respond at the moment; `narrow` is the parameter that made a query slow. */
type Reason = { reason: keyof typeof reasons; narrow?: string | undefined };

const describeUnavailable = ({ reason, narrow }: Reason) =>
  narrow === undefined
    ? `${reasons[reason]} ${tryAgain}`
    : `The query took too long. Narrow "${narrow}", or add another filter. ${tryAgain}`;

export const serviceProblems = {
  internal_error: plainRow({
    status: 500,
    title: 'Internal error',
    detail: 'Something went wrong on our side. Try again; if it keeps happening, send the requestId to support.',
    meaning: 'Something went wrong on our side.',
    remedy:
      'Try again with increasing delays. If it keeps happening, send `requestId` to support so they can find the cause.',
  }),
  unavailable: row({
    status: 503,
    title: 'Service unavailable',
    detail: describeUnavailable,
    headers: () => ({ 'Retry-After': String(retryAfter.unavailable) }),
    meaning:
      'The service cannot use its database, too many of your requests are running at once, a query took too long, or the records are too long for one page; `detail` says which.',
    remedy: `Wait for \`Retry-After\` (${retryAfter.unavailable} seconds) and try again. Narrow a query that took too long. For long records, send a smaller \`limit\`.`,
    example: { reason: 'database' },
  }),
};
