/** The Members page and its forms. */
import { admitMail } from '../../../accounts/attempts.ts';
import { passwordLinkMail, twoFactorMail, twoFactorPolicyMail } from '../../../accounts/mail.ts';
import { changeOrganization, requireTwoFactor } from '../../../accounts/organizations.ts';
import {
  addMember,
  changeRole,
  findMember,
  readMemberStates,
  removeMember,
  resetTwoFactor,
  searchMembers,
} from '../../../accounts/members.ts';
import { issueLink as issuePasswordLink, pathOfLink } from '../../../accounts/password-links.ts';
import { ApiKey, Member } from '../../../entities/organization.ts';
import type { Role } from '../../../entities/organization.ts';
import { liveKeys } from '../../../keys/list.ts';
import { mailLimits } from '../../../outgoing/mail.ts';
import { printable } from '../../../problems/safe-text.ts';
import type { SettingsCode } from '../../../problems/settings.ts';
import { publicId, storedId } from '../../../records/public-id.ts';
import { asAdmin } from '../../../records/require-admin.ts';
import { sendMail, idIn, requireAdminVisit } from '../visit.ts';
import type { Change, Visit } from '../visit.ts';
import { changedFrom, choiceIn, field } from '../fields.ts';
import type { Rejected } from '../fields.ts';
import { homePath } from '../session-guard.ts';
import type { Form, SessionGuard } from '../session-guard.ts';
import { membersPage, removePage, resetPage, roleLabels, rolePage } from './members-page.ts';
import type { IssuedLink, MembersView } from './members-page.ts';

const path = '/settings/members';

export function memberRoutes(guard: SessionGuard): void {
  guard.form('/members', {
    action: 'member_added',
    show: (visit, rejectedInvitation) => show(visit, { rejectedInvitation }),
    submit: invite,
  });
  guard.form('/members/organization', {
    action: 'organization_renamed',
    show: (visit, rejectedDetails) => show(visit, { rejectedDetails }),
    submit: changeDetails,
  });
  for (const policy of ['required', 'optional'] as const)
    guard.form(`/members/two-factor/${policy}`, {
      action: 'two_factor_policy_changed',
      submit: (change) => changePolicy(change, policy),
      ...failingWith('invalid'),
    });
  guard.page('/members/:id', () => path);
  guard.form('/members/:id/link', { action: 'password_link_issued', submit: sendLink });
  guard.form('/members/:id/role', {
    action: 'role_changed',
    show: async (visit) => rolePage(visit, await memberFor(visit)),
    submit: setRole,
    ...failingWith('last_admin'),
  });
  guard.form('/members/:id/remove', {
    action: 'member_removed',
    show: showRemoval,
    submit: remove,
    ...failingWith('last_admin'),
  });
  guard.form('/members/:id/two-factor', {
    action: 'two_factor_reset',
    show: async (visit) => resetPage(visit, await memberFor(visit)),
    submit: reset,
  });
}

/** For a problem with this code, shows its message on the Members page. */
const failingWith = (code: SettingsCode): Pick<Form, 'again' | 'isSolvable'> => ({
  again: (change, { problem }: Rejected) => show(change, { failure: problem.message }),
  isSolvable: (problem) => problem.code === code,
});

async function show(visit: Visit, view: Partial<MembersView>) {
  const { em, context, request } = visit;
  const search = {
    text: printable(field(request.query, 'q').trim()),
    after: storedId('member', field(request.query, 'after')),
  };
  const { members, hasMore } = await searchMembers(em.fork(), search);
  const page = {
    members: await readMemberStates(context.database, members),
    search,
    hasMore,
    count: await em.count(Member, { removedAt: null }),
  };
  return membersPage(visit, { ...page, done: await whatWasDone(visit), ...view });
}

/** The member in the path. Only admins see these pages. */
function memberFor(visit: Visit): Promise<Member> {
  requireAdminVisit(visit, 'manage members');
  return findMember(visit.em, idIn(visit, 'member'));
}

/** The member that a form is about. */
const subjectOf = (change: Change) => ({ id: idIn(change, 'member'), organizationId: change.organization.id });

async function invite(change: Change) {
  const { organization, member: actor, request, context } = change;
  const { body } = request;
  const invited = { name: field(body, 'name'), email: field(body, 'email'), role: roleIn(body) };
  return showLink(change, await addMember(context.database, organization, invited, actor));
}

async function changeDetails({ em, member, request: { body } }: Change): Promise<string> {
  const details = { name: changedFrom(body, 'organizationName'), currency: changedFrom(body, 'currency') };
  await changeOrganization(em, member, details);
  return `${path}?details`;
}

async function sendLink(change: Change) {
  const { em, member: actor } = change;
  const id = idIn(change, 'member');
  const detail = publicId('member', id);
  const attempt = { action: 'password_link_issued', privilege: 'issue password links', detail } as const;
  const member = await asAdmin(em, actor, attempt, async (inner) => {
    const found = await findMember(inner, id);
    return { value: found, entry: { subjectId: found.id } };
  });
  return showLink(change, member);
}

async function showRemoval(visit: Visit) {
  const member = await memberFor(visit);
  return removePage(visit, member, await visit.em.count(ApiKey, { createdBy: member.id, ...liveKeys() }));
}

async function setRole(change: Change): Promise<string> {
  const { em, member, request } = change;
  const changed = await changeRole(em, member, subjectOf(change), roleIn(request.body));
  return `${path}?role=${publicId('member', changed.id)}`;
}

async function remove(change: Change): Promise<string> {
  const removed = await removeMember(change.em, change.member, subjectOf(change));
  const hasOthers = change.memberships.length > 1;
  if (removed.id === change.member.id) return hasOthers ? `${homePath}?left` : '/settings/sign-in?after=left';
  return `${path}?removed=${publicId('member', removed.id)}`;
}

async function changePolicy(change: Change, policy: 'required' | 'optional'): Promise<string> {
  const { em, member, organization, hasTwoFactor, isSingleSignOn, context } = change;
  const isRequired = policy === 'required';
  const isChanged = await requireTwoFactor(em, member, { isRequired, isReady: hasTwoFactor || isSingleSignOn });
  const admins = isChanged ? await em.fork().find(Member, { role: 'admin', removedAt: null }) : [];
  const facts = { organization: organization.name, actor: member.name, isRequired };
  for (const { email } of admins) sendMail(context, twoFactorPolicyMail(email, facts));
  return `${path}?two-factor`;
}

async function reset(change: Change): Promise<string> {
  const { em, organization, context } = change;
  const member = await resetTwoFactor(em, change.member, subjectOf(change));
  sendMail(context, twoFactorMail(member.email, { change: 'reset', organizations: [organization.name] }));
  return `${path}?reset=${publicId('member', member.id)}`;
}

async function showLink(change: Change, member: Member) {
  const { database, baseUrl } = change.context;
  const link = baseUrl + pathOfLink(await issuePasswordLink(database.signIns, member));
  return show(change, { issued: { member, link, mail: await mailLink(change, member, link) } });
}

async function mailLink(change: Change, subject: Member, link: string): Promise<IssuedLink['mail']> {
  const { organization, member, context } = change;
  if (!context.mailer) return 'none';
  if (!(await admitMail(context.database.signIns, subject.email, organization.id))) return 'limited';
  const mail = passwordLinkMail(subject, { organization: organization.name, sender: member.name, link });
  const sent = context.mailer.send(mail, mailLimits.pageMs).then(() => 'sent' as const);
  return sent.catch((error: unknown) => {
    context.onError(error);
    return 'failed';
  });
}

/** There is no default role. */
const roleIn = (body: unknown): Role => choiceIn(body, 'role', roleLabels, 'Choose a role: admin or member.');

/** The URL contains only the action and the member's id; the sentence is built here. */
async function whatWasDone({ em, organization, request }: Visit): Promise<string | undefined> {
  if ('details' in request.query) return 'The organization has been updated.';
  if ('two-factor' in request.query)
    return `Two-factor authentication is now ${organization.requiresTwoFactor ? 'required' : 'optional'}.`;
  const named = (name: string) => storedId('member', field(request.query, name));
  const [changed, removed, wasReset] = [named('role'), named('removed'), named('reset')];
  const id = changed ?? removed ?? wasReset;
  const member = id === undefined ? undefined : (await em.find(Member, { id }))[0];
  if (!member) return undefined;
  if (removed && member.removedAt)
    return `${member.name} is no longer a member, and has lost access to ${organization.name}.`;
  if (wasReset) return `The two-factor authentication of ${member.name} has been reset.`;
  return changed && !member.removedAt
    ? `${member.name} is now ${member.role === 'admin' ? 'an admin' : 'a member'}.`
    : undefined;
}
