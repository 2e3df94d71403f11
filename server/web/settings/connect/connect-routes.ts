/** The consent page of applications that connect by OAuth: a key is created only when an admin says so. */
import type { Router } from 'express';
import { listMembers } from '../../../accounts/members.ts';
import { readAuthorization, readParameters, RejectedAuthorization, returnUrl } from '../../../connect/authorization.ts';
import { Clients } from '../../../connect/clients.ts';
import { issueCode } from '../../../connect/codes.ts';
import { OAuthError } from '../../../connect/oauth-error.ts';
import { hostOf } from '../../../connect/redirect-uri.ts';
import { findConnectedKey } from '../../../keys/connect.ts';
import { parseExpiry, requireRoomForKey } from '../../../keys/issue.ts';
import { isSettingsProblem, Problem } from '../../../problems/problem.ts';
import { publicId } from '../../../records/public-id.ts';
import type { SettingsContext } from '../context.ts';
import { field } from '../fields.ts';
import { sendPage } from '../page.ts';
import type { Change, Visit } from '../session-guard.ts';
import { orProblem } from '../visit.ts';
import { connectPage, rejectedPage } from './connect-page.ts';
import type { Asked } from './connect-page.ts';

export function connectRoutes(router: Router, { guard, secret, webhooks }: SettingsContext): void {
  const clients = new Clients({ secret, destinations: webhooks.destinations });
  router.get(
    '/connect',
    guard.page(async (visit) => {
      const asked = await read(visit, visit.request.query, clients);
      if (asked) await show(visit, asked);
    }),
  );
  router.post(
    '/connect',
    guard.change('key_created', async (change) => {
      if (change.signed.member.role !== 'admin') await requireRoomForKey(change.visitor.em, change.visitor.member);
      const asked = await read(change, change.request.body, clients);
      if (asked) await connect(change, asked);
    }),
  );
}

/** What the application asks for; undefined if it asks wrongly, which the page then says. */
async function read({ response, context }: Visit, fields: unknown, clients: Clients): Promise<Asked | undefined> {
  try {
    const sent = readParameters(fields);
    return { sent, authorization: await readAuthorization(sent, clients, context.baseUrl()) };
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    const returnTo = error instanceof RejectedAuthorization ? error.returnTo : undefined;
    sendPage(response, rejectedPage(error.message, returnTo), 400);
    return undefined;
  }
}

async function show(visit: Visit, asked: Asked, failure?: Problem): Promise<void> {
  const { visitor, response, context, csrfToken } = visit;
  const em = visitor.em.fork();
  const members = visitor.member.role === 'admin' ? [] : await listMembers(em);
  const page = connectPage({
    ...asked,
    visitor,
    planContact: context.planContact,
    cancelUrl: returnUrl(asked.authorization, { error: 'access_denied' }, context.baseUrl()),
    csrfToken: csrfToken(),
    admins: members.filter(({ role }) => role === 'admin'),
    before: await findConnectedKey(em, visitor.member, asked.authorization.client.id),
    failure: failure?.message,
  });
  sendPage(response, page, failure?.status);
}

async function connect(change: Change, asked: Asked): Promise<void> {
  const { response, context } = change;
  const code = await orProblem(codeFor(change, asked));
  if (isSettingsProblem(code)) return show(change, asked, code);
  // With 303, the browser sends none of this form to the application.
  response.set({ 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' });
  response.redirect(303, returnUrl(asked.authorization, { code }, context.baseUrl()));
}

async function codeFor({ visitor, request, context }: Change, { authorization }: Asked): Promise<string> {
  const { client, redirectUri, codeChallenge, resource } = authorization;
  requireShown(visitor.organization, field(request.body, 'organization'));
  const expiresInMs = parseExpiry(field(request.body, 'expires'));
  await requireRoomForKey(visitor.em, visitor.member, client.name);
  return issueCode(context.database, visitor.member, {
    clientId: client.id,
    clientHost: hostOf(redirectUri),
    name: client.name,
    redirectUri,
    codeChallenge,
    resource,
    expiresInMs,
  });
}

/** Another tab may have switched the session to another organization since. */
function requireShown({ id, name }: { id: string; name: string }, shown: string): void {
  if (publicId('organization', id) === shown) return;
  const sentence = `You have switched to ${name} since this page was opened. Check it, then connect again.`;
  throw new Problem('repeated', { sentence });
}
