/** The session guard: checks who may see a page and whether a form is ours, before anything is done. */
import type { Request, RequestHandler, Response } from 'express';
import { admitChange } from '../../accounts/attempts.ts';
import type { Device } from '../../accounts/sessions.ts';
import type { Visitor } from '../../accounts/sign-in.ts';
import type { AuditAction } from '../../entities/audit-event.ts';
import { WorkLimiter } from '../../limits/concurrency.ts';
import { Problem } from '../../problems/problem.ts';
import { writeEvent } from '../../records/audit-log.ts';
import type { SettingsServices } from './context.ts';
import { field } from './fields.ts';
import { isFromOurPage } from './origin.ts';
import type { Signed } from './page.ts';

type Params = Record<string, string>;

/** A request of a signed-in member. */
export type Visit = {
  visitor: Visitor;
  request: Request<Params>;
  response: Response;
  context: SettingsServices;
  /** For the header of the page. */
  signed: Signed;
  /** A new CSRF token for a form of this session. */
  csrfToken: () => string;
};
/** `csrfTokenId` identifies the form that was sent. */
export type Change = Visit & { csrfTokenId: string };

/** They take as long as the file does, and have bounds of their own. */
const transfers: readonly AuditAction[] = ['records_imported', 'records_exported'];

export class SessionGuard {
  readonly #context: SettingsServices;
  // Changes of one organization wait for each other, so that they never take all the connections of the others.
  readonly #turns = new WorkLimiter();

  constructor(context: SettingsServices) {
    this.#context = context;
  }

  /** The signed-in visitor, if any; tells the browser about a session that was renewed or has ended. */
  async visitorOf(request: Request<Params>, response: Response): Promise<Visitor | undefined> {
    const { visitor, cookies } = await this.#context.signIns.visitor(request.headers.cookie);
    setCookies(response, cookies);
    response.locals.memberId = visitor?.member.id;
    return visitor;
  }

  /** A page for people who are signed in; others are sent to the sign-in page. */
  page(work: (visit: Visit) => Promise<void> | void): RequestHandler<Params> {
    return async (request, response) => {
      const visit = await this.#visitOf(request, response);
      if (!visit) return sendToSignIn(request, response);
      if (isKeptOut(visit)) return sendToSetUp(visit);
      await work(visit);
    };
  }

  /** A form sent from one of our own pages, with a CSRF token of this session, and not too often. */
  change(action: AuditAction, work: (change: Change) => Promise<void>): RequestHandler<Params> {
    return async (request, response) => {
      const visit = await this.#visitOf(request, response);
      const isOurs = isFromOurPage(request, this.#context.baseUrl());
      // It belongs to no organization's audit log, but the request log records it.
      if (!visit && !isOurs) throw forged();
      if (!visit) return sendToSignIn(request, response);
      const change = await changeOf(visit, action, isOurs);
      if (isKeptOut(change)) return sendToSetUp(change);
      if (transfers.includes(action)) return work(change);
      const slot = { keyId: visit.signed.member.id, kind: 'write' } as const;
      return this.#turns.run(visit.signed.organization.id, slot, () => work(change));
    };
  }

  /** A form that is used before there is a session. */
  openForm(work: (request: Request<Params>, response: Response) => Promise<void>): RequestHandler<Params> {
    return async (request, response) => {
      if (!isFromOurPage(request, this.#context.baseUrl())) throw forged();
      await work(request, response);
    };
  }

  async #visitOf(request: Request<Params>, response: Response): Promise<Visit | undefined> {
    const visitor = await this.visitorOf(request, response);
    return visitor && visitBy(visitor, { request, response, context: this.#context });
  }
}

/** Whether the organization requires two-factor authentication that this member has not turned on. */
export const needsTwoFactor = ({ organization, hasTwoFactor, isSingleSignOn }: Visitor): boolean =>
  organization.requiresTwoFactor && !hasTwoFactor && !isSingleSignOn;

/** Until it is turned on, the member's own account is all that the organization shows. */
const isKeptOut = ({ visitor, request }: Visit): boolean =>
  needsTwoFactor(visitor) && !request.path.startsWith('/account');

function sendToSetUp({ request, response }: Visit): void {
  const next = request.method === 'GET' ? `?${new URLSearchParams({ next: request.originalUrl }).toString()}` : '';
  response.redirect(303, `/settings/account/two-factor${next}`);
}

function visitBy(visitor: Visitor, parts: Pick<Visit, 'request' | 'response' | 'context'>): Visit {
  const { member, organization, memberships, sessionId } = visitor;
  const csrfToken = () => parts.context.csrf.issue(sessionId);
  const { planContact } = parts.context;
  const signed = { member, organization, memberships, signOutToken: csrfToken(), planContact };
  return { ...parts, visitor, csrfToken, signed };
}

/** Throws, and puts on the audit log, a form that did not come from one of our own pages. */
async function changeOf(visit: Visit, action: AuditAction, isOurs: boolean): Promise<Change> {
  const { visitor, request, context } = visit;
  const wait = await admitChange(context.database.signIns, visitor.member.id);
  if (wait > 0)
    throw new Problem('too_many', {
      sentence: `Too many changes at once. Try again in ${wait} seconds.`,
      retryAfterSeconds: wait,
    });
  const csrfTokenId = isOurs && context.csrf.verify(visitor.sessionId, field(request.body, 'csrfToken'));
  if (csrfTokenId) return { ...visit, csrfTokenId };
  await writeEvent(visitor.em, { kind: 'rejection', action, memberId: visitor.member.id, reason: 'forged' });
  throw forged();
}

export const homePath = '/settings/overview';

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
      'This form did not come from a page of this service, so nothing was changed. Open the page again and retry. If the service runs under a different host name, its operator must set PUBLIC_URL.',
  });

export function setCookies(response: Response, cookies: string[]): void {
  for (const cookie of cookies) response.append('Set-Cookie', cookie);
}

export const deviceOf = (request: Request<Params>): Device => ({
  ipAddress: request.ip ?? '',
  userAgent: request.headers['user-agent'] ?? '',
});
