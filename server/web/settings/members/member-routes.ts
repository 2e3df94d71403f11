/** The Members page and its forms. */
import type { Router } from 'express';
import { invitation } from '../../../accounts/mail.ts';
import { changeOrganization } from '../../../accounts/organizations.ts';
import { addMember, changeRole, findMember, listMembers, removeMember } from '../../../accounts/members.ts';
import { readSignInReady } from '../../../accounts/credentials.ts';
import { issueLink as issuePasswordLink, linkHours, pathOfLink } from '../../../accounts/password-links.ts';
import { ApiKey, Member, roles } from '../../../entities/organization.ts';
import type { Role } from '../../../entities/organization.ts';
import { isLive } from '../../../keys/list.ts';
import { fieldOf, isSettingsProblem, Problem } from '../../../problems/problem.ts';
import { auditingRejections, recordEvent } from '../../../records/audit-log.ts';
import { publicId, storedId } from '../../../records/public-id.ts';
import { requireAdmin } from '../../../records/require-admin.ts';
import type { SettingsContext } from '../context.ts';
import { field } from '../fields.ts';
import { membersPage, removePage, rolePage } from './member-pages.ts';
import type { MembersView } from './member-pages.ts';
import { sendPage } from '../page.ts';
import { memberFor, subjectOf } from './subject.ts';
import { policyRoutes } from './two-factor-routes.ts';
import type { Change, Visit } from '../session-guard.ts';
import { idIn, orProblem } from '../visit.ts';

const path = '/settings/members';

export function memberRoutes(router: Router, { guard }: SettingsContext): void {
  router.get(
    '/members',
    guard.page(async (visit) => show(visit, { done: await whatWasDone(visit) })),
  );
  router.post('/members', guard.change('member_added', invite));
  router.post('/members/organization', guard.change('organization_renamed', changeDetails));
  router.post('/members/:id/link', guard.change('password_link_issued', sendLink));
  router.get('/members/:id/role', guard.page(showRole));
  router.post('/members/:id/role', guard.change('role_changed', setRole));
  router.get('/members/:id/remove', guard.page(showRemoval));
  router.post('/members/:id/remove', guard.change('member_removed', remove));
  policyRoutes(router, guard, show);
}

async function show(visit: Visit, view: Partial<MembersView>, status = 200): Promise<void> {
  const { visitor, response, signed, csrfToken, context } = visit;
  const members = await listMembers(visitor.em.fork());
  const ids = members.map(({ id }) => id);
  const ready = await readSignInReady(context.database.signIns, ids);
  const protectedIds = new Set((await context.twoFactor.read(ids)).map(({ memberId }) => memberId));
  sendPage(response, membersPage({ signed, members, ready, protectedIds, csrfToken, ...view }), status);
}

async function invite(change: Change): Promise<void> {
  const { visitor, request, context } = change;
  const { body } = request;
  const typed = { name: field(body, 'name'), email: field(body, 'email'), role: roleIn(body) };
  const member = await orProblem(addMember(context.database, visitor.organization, typed, visitor.member));
  if (!isSettingsProblem(member)) return show(change, { issued: await issueLink(change, member) }, 201);
  if (fieldOf(member) === undefined) throw member;
  await show(change, { typed: { ...typed, problem: member } }, member.status);
}

async function changeDetails(change: Change): Promise<void> {
  const { visitor, request, response } = change;
  const details = { name: field(request.body, 'organizationName'), currency: field(request.body, 'currency') };
  const changed = await orProblem(changeOrganization(visitor.em, visitor.member, details));
  if (!isSettingsProblem(changed)) return response.redirect(303, `${path}?details`);
  if (fieldOf(changed) === undefined) throw changed;
  await show(change, { details: { ...details, problem: changed } }, changed.status);
}

async function sendLink(change: Change): Promise<void> {
  const { em, member: actor } = change.visitor;
  const id = idIn(change, 'member');
  const attempt = { action: 'password_link_issued', memberId: actor.id, detail: publicId('member', id) } as const;
  const member = await auditingRejections(em, attempt, () =>
    em.transactional(async (inner) => {
      await requireAdmin(inner, actor, 'issue password links');
      const found = await findMember(inner, id);
      recordEvent(inner, { action: 'password_link_issued', memberId: actor.id, subjectId: found.id });
      return found;
    }),
  );
  await show(change, { issued: await issueLink(change, member) }, 201);
}

async function showRole(visit: Visit): Promise<void> {
  const { signed, response, csrfToken } = visit;
  sendPage(response, rolePage({ signed, member: await memberFor(visit), token: csrfToken() }));
}

async function showRemoval(visit: Visit): Promise<void> {
  const { visitor, signed, response, csrfToken } = visit;
  const member = await memberFor(visit);
  const keys = await visitor.em.find(ApiKey, { createdBy: member.id, revokedAt: null });
  const liveKeys = keys.filter((key) => isLive(key)).length;
  sendPage(response, removePage({ signed, member, token: csrfToken(), liveKeys }));
}

async function setRole(change: Change): Promise<void> {
  const { em, member } = change.visitor;
  await orNotice(change, 'role', changeRole(em, member, subjectOf(change), roleIn(change.request.body)));
}

async function remove(change: Change): Promise<void> {
  const { em, member } = change.visitor;
  await orNotice(change, 'removed', removeMember(em, member, subjectOf(change)));
}

/** The members page says what was done, or that the last admin cannot be removed. */
async function orNotice(change: Change, done: string, work: Promise<Member>): Promise<void> {
  const changed = await orProblem(work);
  if (!isSettingsProblem(changed))
    return change.response.redirect(303, `${path}?${done}=${publicId('member', changed.id)}`);
  if (changed.code !== 'last_admin') throw changed;
  await show(change, { failure: changed.message }, changed.status);
}

async function issueLink({ visitor, context }: Change, member: Member): Promise<MembersView['issued']> {
  const { database, mailer, baseUrl, onError } = context;
  const link = baseUrl() + pathOfLink(await issuePasswordLink(database.signIns, member));
  const issued = { member, link, hours: linkHours };
  if (!mailer) return { ...issued, mail: 'none' };
  const facts = { organization: visitor.organization.name, inviter: visitor.member.name, link, hours: linkHours };
  try {
    await mailer.send(invitation(member.email, facts));
    return { ...issued, mail: 'sent' };
  } catch (error) {
    onError(error);
    return { ...issued, mail: 'failed' };
  }
}

/** No role is given to someone by default. */
function roleIn(body: unknown): Role {
  const role = roles.find((known) => known === field(body, 'role'));
  if (role === undefined) throw new Problem('invalid', { sentence: 'Choose a role: admin or member.' });
  return role;
}

/** The URL contains only the action and the member's id; the sentence is built here. */
async function whatWasDone({ visitor, request }: Visit): Promise<string | undefined> {
  if ('details' in request.query) return 'The organization is changed.';
  if ('two-factor' in request.query)
    return `Two-factor authentication is ${visitor.organization.requiresTwoFactor ? 'required' : 'optional'} now.`;
  const named = (name: string) => storedId('member', field(request.query, name));
  const [changed, removed, wasReset] = [named('role'), named('removed'), named('reset')];
  const id = changed ?? removed ?? wasReset;
  const member = id === undefined ? undefined : (await visitor.em.find(Member, { id }))[0];
  if (!member) return undefined;
  if (removed && member.removedAt) return `${member.name} is no longer a member, and is signed out everywhere.`;
  if (wasReset) return `The two-factor authentication of ${member.name} is reset.`;
  return changed ? `${member.name} is now ${member.role === 'admin' ? 'an admin' : 'a member'}.` : undefined;
}
