/** The session guard: checks who may see a page and whether a form is ours, before any handler runs. */
import type { Request, Response, Router } from 'express';
import { admitChange } from '../../accounts/attempts.ts';
import type { Device } from '../../accounts/sessions.ts';
import type { Visitor } from '../../accounts/sign-in.ts';
import type { AuditAction } from '../../entities/audit-event.ts';
import { fieldOf, isSettingsProblem, Problem } from '../../problems/problem.ts';
import type { SettingsProblem } from '../../problems/problem.ts';
import { writeEvent } from '../../records/audit-log.ts';
import { forgedForm, formOfOtherSession, isFromOurPage } from './csrf.ts';
import { field } from './fields.ts';
import type { Rejected } from './fields.ts';
import { sendPage } from './layout.ts';
import { pathWith, rejectedPage } from './page.ts';
import { rejectTooMany } from './visit.ts';
import type { SettingsServices } from './services.ts';
import type { Change, Params, PublicRequest, Result, Visit } from './visit.ts';

type Handler<Subject> = (subject: Subject) => Result | Promise<Result>;

type FormOf<Reader, Sender extends Reader> = {
  submit: Handler<Sender>;
  /** The page of the form, at the same path. */
  show?: (reader: Reader, rejected?: Rejected) => Result | Promise<Result>;
  /** The page for a problem that can be solved there, if it has another path; other problems get an error page. */
  again?: (sender: Sender, rejected: Rejected) => Result | Promise<Result>;
  /** Whether the problem can be solved there; by default, whether it is about a field. */
  isSolvable?: (problem: SettingsProblem) => boolean;
};
export type Form = FormOf<Visit, Change> & { action: AuditAction };

/** These take as long as the file takes to transfer, and have their own limits. */
const transfers: readonly AuditAction[] = ['records_imported', 'records_exported'];

/** Registers pages and forms, each behind its checks. */
export class SessionGuard {
  readonly #router: Router;
  readonly #context: SettingsServices;

  constructor(router: Router, context: SettingsServices) {
    this.#router = router;
    this.#context = context;
  }

  /** A page for people who are signed in; others are sent to the sign-in page. */
  page(path: string, show: Handler<Visit>): void {
    this.#on('get', path, async (open) => {
      const visit = await visitOf(open);
      if (!visit) return send(signInPath(open.request), open);
      send(mustSetUpTwoFactor(visit) ? setUpPath(visit) : await show(visit), visit);
    });
  }

  /** A form that must come from one of our own pages with a CSRF token of this session, and is rate-limited. */
  form(path: string, form: Form): void {
    const { action, show = pageAbove } = form;
    this.page(path, show);
    this.#on('post', path, async (open) => {
      const visit = await visitOf(open);
      const isOurs = isFromOurPage(open.request, open.context.baseUrl);
      // There is no organization whose audit log could record it; the request log does.
      if (!visit && !isOurs) throw forgedForm();
      if (!visit) return send(signInPath(open.request), open);
      const change = await changeOf(visit, action, isOurs);
      if (mustSetUpTwoFactor(change)) return send(setUpPath(change), change);
      const work = async () => send(await submit(change, form), change);
      if (transfers.includes(action)) return work();
      // The concurrent changes of an organization are limited, so that it never takes all connections from the others.
      return this.#context.shares.forms.run(change.organization.id, { keyId: change.member.id, kind: 'form' }, work);
    });
  }

  /** A page that needs no session. */
  publicPage(path: string, show: Handler<PublicRequest>): void {
    this.#on('get', path, async (open) => send(await show(open), open));
  }

  /** A form that needs no session. */
  publicForm(path: string, form: FormOf<PublicRequest, PublicRequest>): void {
    if (form.show) this.publicPage(path, form.show);
    this.#on('post', path, async (open) => {
      if (!isFromOurPage(open.request, open.context.baseUrl)) throw forgedForm();
      send(await submit(open, form), open);
    });
  }

  #on(method: 'get' | 'post', path: string, handle: (open: PublicRequest) => Promise<void>): void {
    this.#router[method](path, (request: Request<Params>, response) =>
      handle({ request, response, context: this.#context }),
    );
  }
}

async function visitOf(open: PublicRequest): Promise<Visit | undefined> {
  const visitor = await visitorOf(open);
  const visit = visitor && { ...visitor, ...open, csrfToken: () => open.context.csrf.issue(visitor) };
  if (visit) open.response.locals.visit = visit;
  return visit;
}

/** The signed-in visitor, if any; sets the cookies of a session that was renewed or has ended. */
export async function visitorOf({ request, response, context }: PublicRequest): Promise<Visitor | undefined> {
  const { visitor, cookies } = await context.signIns.visitor(request.headers.cookie);
  setCookies(response, cookies);
  response.locals.memberId = visitor?.member.id;
  return visitor;
}

function send(result: Result, to: PublicRequest | Visit): void {
  if (typeof result === 'string') to.response.redirect(303, result);
  else if (result) sendPage(to.response, result, 'member' in to ? to : undefined);
}

async function submit<Sender extends PublicRequest>(sender: Sender, form: FormOf<Sender, Sender>): Promise<Result> {
  const { show, again = show, isSolvable = (problem) => fieldOf(problem) !== undefined } = form;
  try {
    return await form.submit(sender);
  } catch (problem) {
    if (!again || !isSettingsProblem(problem) || !isSolvable(problem)) throw problem;
    sender.response.set(problem.headers);
    const result = await again(sender, { problem, body: sender.request.body });
    return typeof result === 'object' ? rejectedPage(result, problem.status) : result;
  }
}

/** Whether the organization requires two-factor authentication that this member has not turned on. */
export const needsTwoFactor = ({ organization, hasTwoFactor, isSingleSignOn }: Visitor): boolean =>
  organization.requiresTwoFactor && !hasTwoFactor && !isSingleSignOn;

/** Until it is turned on, the member sees only the account pages. */
const mustSetUpTwoFactor = (visit: Visit): boolean =>
  needsTwoFactor(visit) && !visit.request.path.startsWith('/account');

function setUpPath({ request }: Visit): string {
  return pathWith('/settings/account/two-factor', { next: request.method === 'GET' ? request.originalUrl : '' });
}

/**
 * Where the URL of a form without a page of its own leads: people open it when they reload the response to the form, or
 * sign in again from there.
 */
const pageAbove = ({ request }: Visit): string => `/settings${request.path.replace(/\/[^/]*$/, '')}`;

/** Rejects a form that did not come from one of our own pages, and records it in the audit log. */
async function changeOf(visit: Visit, action: AuditAction, isOurs: boolean): Promise<Change> {
  const { member, organization, em, request, context } = visit;
  rejectTooMany(await admitChange(context.database.signIns, member.id), 'changes at once');
  const token = isOurs && context.csrf.verify(visit, field(request.body, 'csrfToken'));
  if (token && token.memberId !== member.id) throw switchedTo(organization);
  if (token) return { ...visit, csrfTokenId: token.id };
  await writeEvent(em, { kind: 'rejection', action, memberId: member.id, reason: 'forged' });
  throw isOurs ? formOfOtherSession() : forgedForm();
}

const switchedTo = ({ name }: Visitor['organization']) =>
  new Problem('switched', {
    sentence: `You have switched to ${name} since this page was opened, so nothing was changed. Open the page again and retry.`,
  });

export const homePath = '/settings/overview';

/** The sign-in page, which says why it appears, and afterward returns to the same page, or to that of the form or link. */
export function signInPath(request: Request<Params>): string {
  const from = refererPath(request.headers.referer);
  // The browser deletes the cookie when the session ends, but a submitted form was opened in a session.
  const ended = request.method === 'POST' || /settings\.session_token=./.test(request.headers.cookie ?? '');
  const noCookie = from.startsWith('/settings/sign-in') ? 'no-cookie' : '';
  // A download would leave the browser on the sign-in page.
  const isPage = request.method === 'GET' && !/\.csv$|\/rejected$/.test(request.path);
  const next = localPath(isPage ? request.originalUrl : from);
  return pathWith('/settings/sign-in', {
    after: ended ? 'session-ended' : noCookie,
    next: next === homePath ? '' : next,
  });
}

function refererPath(referer = ''): string {
  const url = URL.parse(referer);
  return url ? url.pathname + url.search : '';
}

/** The path, if it is that of a settings page to return to; otherwise the home page. */
export function localPath(path: string): string {
  const url = URL.parse(path, 'http://settings.invalid');
  const isOurs =
    url?.host === 'settings.invalid' && /^\/settings\/(?!sign-|password|forgot|oidc|assets)/.test(url.pathname);
  return isOurs ? url.pathname + url.search : homePath;
}

export function setCookies(response: Response, cookies: string[]): void {
  for (const cookie of cookies) response.append('Set-Cookie', cookie);
}

export const deviceOf = (request: Request<Params>): Device => ({
  ipAddress: request.ip ?? '',
  userAgent: request.headers['user-agent'] ?? '',
});
