/** The session guard: checks who may see a page and whether a form is ours, before anything is done. */
import type { Request, RequestHandler, Response } from 'express';
import { admitChange } from '../../accounts/attempts.ts';
import type { Device, SignIns, Visitor } from '../../accounts/sign-in.ts';
import type { Database } from '../../database/orm.ts';
import type { AuditAction } from '../../entities/audit-event.ts';
import { Problem } from '../../problems/problem.ts';
import { writeEvent } from '../../records/audit-log.ts';
import type { CsrfTokens } from './csrf.ts';
import { field } from './fields.ts';
import { isFromOurPage } from './origin.ts';

type Params = Record<string, string>;

/** A request of a signed-in member. */
export type Visit = {
  visitor: Visitor;
  request: Request<Params>;
  response: Response;
  /** A new CSRF token for a form of this session. */
  csrfToken: () => string;
};
/** `csrfTokenId` identifies the form that was sent. */
export type Change = Visit & { csrfTokenId: string };

export type SessionGuard = {
  /** The signed-in visitor, if any; tells the browser about a session that was renewed or has ended. */
  visitorOf(request: Request<Params>, response: Response): Promise<Visitor | undefined>;
  /** A page for people who are signed in; others are sent to the sign-in page. */
  page(work: (visit: Visit) => Promise<void> | void): RequestHandler<Params>;
  /** A form sent from one of our own pages, with a CSRF token of this session, and not too often. */
  change(action: AuditAction, work: (change: Change) => Promise<void>): RequestHandler<Params>;
  /** A form that is used before there is a session. */
  openForm(work: (request: Request<Params>, response: Response) => Promise<void>): RequestHandler<Params>;
};

type Parts = { signIns: SignIns; csrf: CsrfTokens; database: Database; baseUrl: () => string };

export function createSessionGuard({ signIns, csrf, database, baseUrl }: Parts): SessionGuard {
  async function visitorOf(request: Request<Params>, response: Response): Promise<Visitor | undefined> {
    const { visitor, cookies } = await signIns.visitor(request.headers.cookie);
    setCookies(response, cookies);
    response.locals.memberId = visitor?.member.id;
    return visitor;
  }

  const tokenOf = (visitor: Visitor) => () => csrf.issue(visitor.sessionId);

  const page: SessionGuard['page'] = (work) => async (request, response) => {
    const visitor = await visitorOf(request, response);
    if (!visitor) return sendToSignIn(request, response);
    await work({ visitor, request, response, csrfToken: tokenOf(visitor) });
  };

  const change: SessionGuard['change'] = (action, work) => async (request, response) => {
    const visitor = await visitorOf(request, response);
    const isOurs = isFromOurPage(request, baseUrl());
    // It belongs to no organization's audit log, but the request log records it.
    if (!visitor && !isOurs) throw forged();
    if (!visitor) return sendToSignIn(request, response);
    const wait = await admitChange(database.pool, visitor.member.id);
    if (wait > 0)
      throw new Problem('too_many', {
        sentence: `Too many changes at once. Try again in ${wait} seconds.`,
        retryAfterSeconds: wait,
      });
    const csrfTokenId = isOurs && csrf.verify(visitor.sessionId, field(request.body, 'csrfToken'));
    if (csrfTokenId) return work({ visitor, request, response, csrfToken: tokenOf(visitor), csrfTokenId });
    await writeEvent(visitor.em, { kind: 'rejection', action, memberId: visitor.member.id, reason: 'forged' });
    throw forged();
  };

  const openForm: SessionGuard['openForm'] = (work) => async (request, response) => {
    if (!isFromOurPage(request, baseUrl())) throw forged();
    await work(request, response);
  };

  return { visitorOf, page, change, openForm };
}

export const homePath = '/settings/api-keys';

/** Tells the visitor that the session has ended, and returns to the same page after the sign-in. */
function sendToSignIn(request: Request<Params>, response: Response): void {
  const ended = /settings\.session_token=./.test(request.headers.cookie ?? '');
  const next = localPath(request.method === 'GET' ? request.originalUrl : refererPath(request.headers.referer));
  const query = new URLSearchParams({ ...(ended && { after: 'session-ended' }), ...(next !== homePath && { next }) });
  response.redirect(303, `/settings/sign-in${query.size > 0 ? `?${query.toString()}` : ''}`);
}

function refererPath(referer = ''): string {
  const url = URL.parse(referer);
  return url ? url.pathname + url.search : '';
}

/** A page of the settings to go back to; anything else leads to the first page. */
export function localPath(path: string): string {
  const url = URL.parse(path, 'http://settings.invalid');
  const isOurs =
    url?.host === 'settings.invalid' && /^\/settings\/(?!sign-|password|forgot|oidc|assets)/.test(url.pathname);
  return isOurs ? url.pathname + url.search : homePath;
}

export const forged = () =>
  new Problem('forged', {
    sentence:
      'This form did not come from a page of this service, so nothing was changed. Open the page again and retry. If you reach the service by another name than it knows, set PUBLIC_URL.',
  });

export function setCookies(response: Response, cookies: string[]): void {
  for (const cookie of cookies) response.append('Set-Cookie', cookie);
}

export const deviceOf = (request: Request<Params>): Device => ({
  ipAddress: request.ip ?? '',
  userAgent: request.headers['user-agent'] ?? '',
});
