/** The consent page for applications that connect with OAuth: a key is created only if an admin agrees. */
import { admitDocument } from '../../../accounts/attempts.ts';
import { listMembers } from '../../../accounts/members.ts';
import { readAuthorization, returnUrl } from '../../../connect/authorization.ts';
import type { AuthorizationRequest } from '../../../connect/authorization.ts';
import { issueCode } from '../../../connect/codes.ts';
import { OAuthError } from '../../../connect/oauth-error.ts';
import { hostOf } from '../../../connect/redirect-uri.ts';
import { findConnectedKey } from '../../../keys/connect.ts';
import { parseExpiry, requireRoomForKey } from '../../../keys/issue.ts';
import { field } from '../fields.ts';
import type { Rejected } from '../fields.ts';
import type { SessionGuard } from '../session-guard.ts';
import { rejectTooMany } from '../visit.ts';
import type { Change, Result, Visit } from '../visit.ts';
import { connectPage, rejectedPage } from './connect-page.ts';

export const connectRoutes = (guard: SessionGuard): void =>
  guard.form('/connect', {
    action: 'key_created',
    show: (visit, rejected) => withRequest(visit, (requested) => show(visit, requested, rejected)),
    submit: async (change) => {
      if (change.member.role !== 'admin') await requireRoomForKey(change.em, change.member);
      return withRequest(change, (requested) => connect(change, requested));
    },
    isSolvable: ({ code }) => code !== 'role',
  });

/**
 * Does the work with the application's request. An invalid one gets a page with a link back to the application. It is not
 * redirected there, because anyone can register an application (RFC 9700, 4.11.2).
 */
async function withRequest(
  { request, member, context }: Visit,
  work: (requested: AuthorizationRequest) => Promise<Result>,
): Promise<Result> {
  const admit = async () => rejectTooMany(await admitDocument(context.database.signIns, member.id));
  const find = (clientId: string) => context.clients.find(clientId, admit);
  const fields = Object(request.method === 'POST' ? request.body : request.query);
  try {
    return await work(await readAuthorization(fields, find, context.baseUrl));
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    return rejectedPage(error.message, error.returnTo);
  }
}

async function show(visit: Visit, requested: AuthorizationRequest, rejected: Rejected | undefined) {
  const em = visit.em.fork();
  const members = visit.member.role === 'admin' ? [] : await listMembers(em);
  return connectPage(visit, {
    ...requested,
    cancelUrl: returnUrl(requested.authorization, { error: 'access_denied' }, visit.context.baseUrl),
    admins: members.filter(({ role }) => role === 'admin'),
    before: await findConnectedKey(em, visit.member, requested.authorization.client.id),
    rejected,
  });
}

async function connect(change: Change, { authorization }: AuthorizationRequest): Promise<string> {
  const { em, member, request, response, context } = change;
  const { client, redirectUri, codeChallenge, resource } = authorization;
  const expiresInMs = parseExpiry(field(request.body, 'expires'));
  await requireRoomForKey(em, member, client.name);
  const code = await issueCode(context.database, member, {
    clientId: client.id,
    clientHost: hostOf(redirectUri),
    name: client.name,
    redirectUri,
    codeChallenge,
    resource,
    expiresInMs,
    keepsPrevious: field(request.body, 'keep') !== '',
  });
  // The redirect is a 303, so the browser does not send this form to the application.
  response.set({ 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' });
  return returnUrl(authorization, { code }, context.baseUrl);
}
