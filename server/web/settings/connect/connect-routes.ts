/** The consent page of applications that connect by OAuth: a key is created only when an admin says so. */
import { listMembers } from '../../../accounts/members.ts';
import { readAuthorization, readParameters, RejectedAuthorization, returnUrl } from '../../../connect/authorization.ts';
import { Clients } from '../../../connect/clients.ts';
import { issueCode } from '../../../connect/codes.ts';
import { OAuthError } from '../../../connect/oauth-error.ts';
import { hostOf } from '../../../connect/redirect-uri.ts';
import { findConnectedKey } from '../../../keys/connect.ts';
import { parseExpiry, requireRoomForKey } from '../../../keys/issue.ts';
import { isSettingsProblem } from '../../../problems/problem.ts';
import type { SettingsProblem } from '../../../problems/problem.ts';
import type { SettingsServices } from '../context.ts';
import { field } from '../fields.ts';
import type { Page } from '../page.ts';
import type { SessionGuard } from '../session-guard.ts';
import type { Change, Result, Visit } from '../visit.ts';
import { connectPage, rejectedPage } from './connect-page.ts';
import type { Asked } from './connect-page.ts';

export function connectRoutes(guard: SessionGuard, { secret, webhooks }: SettingsServices): void {
  const clients = new Clients({ secret, destinations: webhooks.destinations });
  guard.page('/connect', async (visit) => {
    const asked = await read(visit, visit.request.query, clients);
    return 'title' in asked ? asked : show(visit, asked);
  });
  guard.form('/connect', {
    action: 'key_created',
    submit: async (change) => {
      if (change.member.role !== 'admin') await requireRoomForKey(change.em, change.member);
      const asked = await read(change, change.request.body, clients);
      return 'title' in asked ? asked : connect(change, asked);
    },
  });
}

/** What the application asks for; if it asks wrongly, a page that says so. */
async function read({ context }: Visit, fields: unknown, clients: Clients): Promise<Asked | Page> {
  try {
    const sent = readParameters(fields);
    return { sent, authorization: await readAuthorization(sent, clients, context.baseUrl()) };
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    return rejectedPage(error.message, error instanceof RejectedAuthorization ? error.returnTo : undefined);
  }
}

async function show(visit: Visit, asked: Asked, failure?: SettingsProblem): Promise<Page> {
  const em = visit.em.fork();
  const members = visit.member.role === 'admin' ? [] : await listMembers(em);
  const page = connectPage(visit, {
    ...asked,
    cancelUrl: returnUrl(asked.authorization, { error: 'access_denied' }, visit.context.baseUrl()),
    admins: members.filter(({ role }) => role === 'admin'),
    before: await findConnectedKey(em, visit.member, asked.authorization.client.id),
    failure: failure?.message,
  });
  return { ...page, status: failure?.status ?? 200 };
}

async function connect(change: Change, asked: Asked): Promise<Result> {
  const { response, context } = change;
  try {
    const code = await codeFor(change, asked);
    // With 303, the browser sends none of this form to the application.
    response.set({ 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' });
    return returnUrl(asked.authorization, { code }, context.baseUrl());
  } catch (problem) {
    if (!isSettingsProblem(problem)) throw problem;
    return show(change, asked, problem);
  }
}

async function codeFor({ em, member, request, context }: Change, { authorization }: Asked): Promise<string> {
  const { client, redirectUri, codeChallenge, resource } = authorization;
  const expiresInMs = parseExpiry(field(request.body, 'expires'));
  await requireRoomForKey(em, member, client.name);
  return issueCode(context.database, member, {
    clientId: client.id,
    clientHost: hostOf(redirectUri),
    name: client.name,
    redirectUri,
    codeChallenge,
    resource,
    expiresInMs,
  });
}
