/** In and out: sign in, sign out, and the one-time link to a password. */
import type { Request, Response, Router } from 'express';
import { forged, giveCookies, requireOurPage } from './door.ts';
import { field } from './form.ts';
import { admitSignIn, forgiveSignIn } from '../../accounts/attempts.ts';
import { sendPage } from './page.ts';
import type { Room } from './routes.ts';
import { passwordFault } from '../../accounts/sign-in.ts';
import { passwordPage, signInPage, spentLinkPage } from './sign-in-page.ts';

const keysPath = '/settings/api-keys';
/** The same words whether the address, the password or both are wrong. */
const refused = 'This e-mail address and password do not belong together.';

export function signInRoutes(router: Router, { door, signIns, forms, pool, baseUrl }: Room): void {
  const ours = requireOurPage(baseUrl);

  router.get('/sign-in', async (request, response) => {
    if (await door.visitorOf(request, response)) return response.redirect(303, keysPath);
    sendPage(response, signInPage({ after: field(request.query, 'after') }));
  });

  router.post('/sign-in', ours, async (request, response) => {
    const [email, password] = [
      field(request.body, 'email').trim().slice(0, 254),
      field(request.body, 'password').slice(0, 1000),
    ];
    if (!email || !password)
      return sendPage(response, signInPage({ email, failure: 'Type your e-mail address and your password.' }), 422);
    await enter(response, { email, password, address: addressOf(request) });
  });

  router.post('/sign-out', ours, async (request, response) => {
    const visitor = await door.visitorOf(request, response);
    if (visitor && !forms.check(visitor.sessionId, field(request.body, 'form'))) throw forged();
    giveCookies(response, (await signIns.signOut(request.headers.cookie)).cookies);
    response.redirect(303, '/settings/sign-in?after=sign-out');
  });

  router.get('/password', async (request, response) => {
    const token = field(request.query, 'token');
    const email = await signIns.linkedEmail(token);
    if (email === undefined) return sendPage(response, spentLinkPage(), 410);
    sendPage(response, passwordPage({ email, token }));
  });

  router.post('/password', ours, async (request, response) => {
    const [token, password] = [field(request.body, 'token'), field(request.body, 'password')];
    const email = await signIns.linkedEmail(token);
    const fault = passwordFault(password);
    if (email !== undefined && fault)
      return sendPage(response, passwordPage({ email, token, failure: `The password ${fault}.` }), 422);
    const redeemed = await signIns.redeemLink(token, password);
    if (!redeemed) return sendPage(response, spentLinkPage(), 410);
    await enter(response, { email: redeemed.email, password, address: addressOf(request) });
  });

  async function enter(
    response: Response,
    { email, password, address }: { email: string; password: string; address: string },
  ): Promise<void> {
    const wait = await admitSignIn(pool, email, address);
    if (wait > 0) {
      response.set('Retry-After', String(wait));
      const minutes = Math.ceil(wait / 60);
      const failure = `Too many attempts. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`;
      return sendPage(response, signInPage({ email, failure }), 429);
    }
    const { accepted, cookies } = await signIns.signIn(email, password);
    if (!accepted) return sendPage(response, signInPage({ email, failure: refused }), 422);
    await forgiveSignIn(pool, email, address);
    giveCookies(response, cookies);
    response.redirect(303, keysPath);
  }
}

const addressOf = (request: Request): string => request.ip ?? '';
