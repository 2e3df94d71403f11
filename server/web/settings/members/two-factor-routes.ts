/** An admin requires two-factor authentication of all members, or resets that of one. */
import type { Router } from 'express';
import { twoFactorPolicyMail } from '../../../accounts/mail.ts';
import { resetTwoFactor } from '../../../accounts/members.ts';
import { requireTwoFactor } from '../../../accounts/organizations.ts';
import { Member } from '../../../entities/organization.ts';
import { isSettingsProblem } from '../../../problems/problem.ts';
import { publicId } from '../../../records/public-id.ts';
import { sendPage } from '../page.ts';
import type { Change, SessionGuard, Visit } from '../session-guard.ts';
import { tellOfTwoFactor } from '../two-factor-mail.ts';
import { orProblem } from '../visit.ts';
import { memberFor, subjectOf } from './subject.ts';
import { resetTwoFactorPage } from './two-factor-pages.ts';

const path = '/settings/members';
type Show = (visit: Visit, view: { failure: string }, status: number) => Promise<void>;

/** `show` sends the Members page. */
export function policyRoutes(router: Router, guard: SessionGuard, show: Show): void {
  for (const policy of ['required', 'optional'] as const) {
    const work = (change: Change) => changePolicy(change, policy, show);
    router.post(`/members/two-factor/${policy}`, guard.change('two_factor_policy_changed', work));
  }
  router.get('/members/:id/two-factor', guard.page(showReset));
  router.post('/members/:id/two-factor', guard.change('two_factor_reset', reset));
}

async function changePolicy(change: Change, policy: 'required' | 'optional', show: Show): Promise<void> {
  const { visitor, response, context } = change;
  const { em, member, organization, hasTwoFactor, isSingleSignOn } = visitor;
  const isRequired = policy === 'required';
  const isReady = hasTwoFactor || isSingleSignOn;
  const changed = await orProblem(requireTwoFactor(em, member, { isRequired, isReady }));
  if (!isSettingsProblem(changed)) {
    const admins = await em.fork().find(Member, { role: 'admin', removedAt: null });
    const facts = { organization: organization.name, actor: member.name, isRequired };
    for (const { email } of admins) void context.mailer?.send(twoFactorPolicyMail(email, facts)).catch(context.onError);
    return response.redirect(303, `${path}?two-factor`);
  }
  if (changed.code !== 'invalid') throw changed;
  await show(change, { failure: changed.message }, changed.status);
}

async function showReset(visit: Visit): Promise<void> {
  const { signed, response, csrfToken } = visit;
  sendPage(response, resetTwoFactorPage({ signed, member: await memberFor(visit), token: csrfToken() }));
}

async function reset(change: Change): Promise<void> {
  const { visitor, context, response } = change;
  const member = await resetTwoFactor(visitor.em, visitor.member, subjectOf(change));
  tellOfTwoFactor(context, member.email, 'reset', [visitor.organization.name]);
  response.redirect(303, `${path}?reset=${publicId('member', member.id)}`);
}
