/** Who comes through the door of a page, and whether a form is one of ours: asked before anything is done. */
import type { Request, RequestHandler, Response } from 'express';
import { refuseForgery } from '../../keys/keys.ts';
import type { Attempt } from '../../keys/keys.ts';
import type pg from 'pg';
import { PageError } from './error-page.ts';
import { field } from './form.ts';
import type { Forms } from './form.ts';
import { admitChange } from '../../accounts/attempts.ts';
import type { SignIns, Visitor } from '../../accounts/sign-in.ts';

type Parts = { signIns: SignIns; forms: Forms; pool: pg.Pool; baseUrl: () => string };
type Params = Record<string, string>;
type Work = (visitor: Visitor, request: Request<Params>, response: Response, sheet: string) => Promise<void>;

export type Door = {
  /** The signed-in visitor, if any; a session that was renewed or has ended is told to the browser. */
  visitorOf(request: Request<Params>, response: Response): Promise<Visitor | undefined>;
  /** For those who are signed in; others are sent to sign in. */
  signedIn(work: Work): RequestHandler<Params>;
  /** A change of keys: from one of our own pages, on a sheet of this session, and not too often. `sheet` is its number. */
  keyAction(attempt: Attempt, work: Work): RequestHandler<Params>;
};

export function createDoor({ signIns, forms, pool, baseUrl }: Parts): Door {
  async function visitorOf(request: Request<Params>, response: Response): Promise<Visitor | undefined> {
    const { visitor, cookies } = await signIns.visitor(request.headers.cookie);
    giveCookies(response, cookies);
    response.locals.memberId = visitor?.member.id;
    return visitor;
  }

  const signedIn = (work: Work): RequestHandler<Params> => {
    return async (request, response) => {
      const visitor = await visitorOf(request, response);
      if (!visitor) return sendToSignIn(request, response);
      await work(visitor, request, response, '');
    };
  };

  const keyAction = (attempt: Attempt, work: Work): RequestHandler<Params> => {
    return async (request, response) => {
      const visitor = await visitorOf(request, response);
      const isOurs = isFromOurPage(request, baseUrl());
      // Nobody's trail: it is in the log, as every request is.
      if (!visitor && !isOurs) throw forged();
      if (!visitor) return sendToSignIn(request, response);
      const wait = await admitChange(pool, visitor.member.id);
      if (wait > 0) throw new PageError(429, `That was a lot at once. Try again in ${wait} seconds.`, wait);
      const number = isOurs && forms.check(visitor.sessionId, field(request.body, 'form'));
      if (number) return work(visitor, request, response, number);
      await refuseForgery(visitor.em, visitor.member, attempt);
      throw forged();
    };
  };

  return { visitorOf, signedIn, keyAction };
}

function sendToSignIn({ headers }: Request<Params>, response: Response): void {
  const ended = headers.cookie?.includes('settings.session_token=');
  response.redirect(303, ended ? '/settings/sign-in?after=the-end' : '/settings/sign-in');
}

/** For forms that are there before a session is. */
export function requireOurPage(baseUrl: () => string): RequestHandler<Params> {
  return (request, _, next) => {
    if (!isFromOurPage(request, baseUrl())) throw forged();
    next();
  };
}

export const forged = () =>
  new PageError(
    403,
    'This form did not come from the page that you have open. Nothing was changed. Open the page again, and try once more.',
  );

export function giveCookies(response: Response, cookies: string[]): void {
  for (const cookie of cookies) response.append('Set-Cookie', cookie);
}

/** What the browser says of where a form comes from; one that says nothing is no browser. */
function isFromOurPage({ headers }: Pick<Request, 'headers'>, baseUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const origin = URL.parse(headers.origin ?? '');
  // Where no PUBLIC_URL is given, one machine has several names.
  return origin !== null && (origin.origin === new URL(baseUrl).origin || origin.host === headers.host);
}
