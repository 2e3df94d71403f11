/** The Members page and its forms. */
import type { Router } from 'express';
import { invitation } from '../../accounts/mail.ts';
import { addMember, changeRole, findMember, listMembers, removeMember } from '../../accounts/members.ts';
import { readSignInReady } from '../../accounts/sign-in-tables.ts';
import { linkHours, pathOfLink } from '../../accounts/sign-in.ts';
import { ApiKey, Member } from '../../entities/organization.ts';
import type { Role } from '../../entities/organization.ts';
import { isLive } from '../../keys/list.ts';
import { fieldOf, isSettingsProblem, Problem } from '../../problems/problem.ts';
import { auditingRejections, recordEvent } from '../../records/audit-log.ts';
import { publicId, storedId } from '../../records/public-id.ts';
import { requireAdmin } from '../../records/require-admin.ts';
import type { SettingsContext } from './context.ts';
import { pageNotFound } from './error-page.ts';
import { field } from './fields.ts';
import { membersPage, removePage, rolePage } from './member-pages.ts';
import type { MembersView } from './member-pages.ts';
import { sendPage } from './page.ts';
import type { Visit } from './session-guard.ts';
import { signedOf } from './signed.ts';

const path = '/settings/members';

export function memberRoutes(router: Router, context: SettingsContext): void {
  const { guard, database } = context;

  async function show(visit: Visit, view: Partial<MembersView>, status = 200): Promise<void> {
    const { visitor, response, csrfToken } = visit;
    const members = await listMembers(visitor.em.fork());
    const ready = await readSignInReady(
      database.pool,
      members.map(({ emailKey }) => emailKey),
    );
    sendPage(response, membersPage({ signed: signedOf(visit), members, ready, csrfToken, ...view }), status);
  }

  /** The member of a page that only admins see. */
  async function memberFor({ visitor, request }: Visit): Promise<Member> {
    if (visitor.member.role !== 'admin')
      throw new Problem('role', { sentence: 'Only admins of the organization can manage members.' });
    return findMember(visitor.em, idIn(request.params));
  }

  router.get(
    '/members',
    guard.page(async (visit) => show(visit, { done: await whatWasDone(visit) })),
  );

  router.post(
    '/members',
    guard.change('member_added', async (change) => {
      const { visitor, request } = change;
      const typed = {
        name: field(request.body, 'name'),
        email: field(request.body, 'email'),
        role: roleIn(request.body),
      };
      try {
        const member = await addMember(database, visitor.organization, typed, visitor.member);
        await show(change, { issued: await issueLink(context, change, member) }, 201);
      } catch (error) {
        if (!isSettingsProblem(error) || fieldOf(error) === undefined) throw error;
        await show(change, { typed: { ...typed, problem: error } }, error.status);
      }
    }),
  );

  router.post(
    '/members/:id/link',
    guard.change('password_link_issued', async (change) => {
      const { visitor, request } = change;
      const { em, member: actor } = visitor;
      const id = idIn(request.params);
      const attempt = { action: 'password_link_issued', memberId: actor.id, detail: publicId('member', id) } as const;
      const member = await auditingRejections(em, attempt, () =>
        em.transactional(async (inner) => {
          await requireAdmin(inner, actor, 'issue password links');
          const found = await findMember(inner, id);
          recordEvent(inner, { action: 'password_link_issued', memberId: actor.id, subjectId: found.id });
          return found;
        }),
      );
      await show(change, { issued: await issueLink(context, change, member) }, 201);
    }),
  );

  router.get(
    '/members/:id/role',
    guard.page(async (visit) => {
      const member = await memberFor(visit);
      sendPage(visit.response, rolePage({ signed: signedOf(visit), member, token: visit.csrfToken() }));
    }),
  );

  router.post(
    '/members/:id/role',
    guard.change('role_changed', async (change) =>
      orNotice(change, async ({ visitor, request, response }) => {
        const subject = { id: idIn(request.params), organizationId: visitor.organization.id };
        const { id } = await changeRole(visitor.em, visitor.member, subject, roleIn(request.body));
        response.redirect(303, `${path}?role=${publicId('member', id)}`);
      }),
    ),
  );

  router.get(
    '/members/:id/remove',
    guard.page(async (visit) => {
      const member = await memberFor(visit);
      const keys = await visit.visitor.em.find(ApiKey, { createdBy: member.id, revokedAt: null });
      const liveKeys = keys.filter((key) => isLive(key)).length;
      sendPage(visit.response, removePage({ signed: signedOf(visit), member, token: visit.csrfToken(), liveKeys }));
    }),
  );

  router.post(
    '/members/:id/remove',
    guard.change('member_removed', async (change) =>
      orNotice(change, async ({ visitor, request, response }) => {
        const subject = { id: idIn(request.params), organizationId: visitor.organization.id };
        const { id } = await removeMember(visitor.em, visitor.member, subject);
        response.redirect(303, `${path}?removed=${publicId('member', id)}`);
      }),
    ),
  );

  /** The members page explains that the last admin cannot be removed. */
  async function orNotice<T extends Visit>(change: T, work: (change: T) => Promise<void>): Promise<void> {
    try {
      await work(change);
    } catch (error) {
      if (!isSettingsProblem(error) || error.code !== 'last_admin') throw error;
      await show(change, { failure: error.message }, error.status);
    }
  }
}

async function issueLink(
  { signIns, mailer, baseUrl, onError }: SettingsContext,
  { visitor }: Visit,
  member: Member,
): Promise<MembersView['issued']> {
  const link = baseUrl() + pathOfLink(await signIns.passwordLink(member));
  if (!mailer) return { member, link, hours: linkHours, mail: 'none' };
  const facts = { organization: visitor.organization.name, inviter: visitor.member.name, link, hours: linkHours };
  try {
    await mailer.send(invitation(member.email, facts));
    return { member, link, hours: linkHours, mail: 'sent' };
  } catch (error) {
    onError(error);
    return { member, link, hours: linkHours, mail: 'failed' };
  }
}

function idIn(params: { id?: string }): string {
  const id = storedId('member', params.id ?? '');
  if (id === undefined) throw pageNotFound();
  return id;
}

const roleIn = (body: unknown): Role => (field(body, 'role') === 'admin' ? 'admin' : 'member');

/** The URL contains only the action and the member's id; the sentence is built here. */
async function whatWasDone({ visitor, request }: Visit): Promise<string | undefined> {
  const named = (name: string) => storedId('member', field(request.query, name));
  const [changed, removed] = [named('role'), named('removed')];
  const id = changed ?? removed;
  const member = id === undefined ? undefined : (await visitor.em.find(Member, { id }))[0];
  if (!member) return undefined;
  if (removed && member.removedAt) return `${member.name} is no longer a member, and is signed out everywhere.`;
  return changed ? `${member.name} is now ${member.role === 'admin' ? 'an admin' : 'a member'}.` : undefined;
}
