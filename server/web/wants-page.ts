import type { Request } from 'express';

/** Whether a request for an unknown URL comes from a browser, which gets a page instead of JSON. */
export const wantsPage = (request: Request): boolean =>
  ['GET', 'HEAD'].includes(request.method) &&
  request.accepts(['json', 'html']) === 'html' &&
  /text\/html/.test(request.headers.accept ?? '');
