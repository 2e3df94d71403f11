/** An admin requires two-factor authentication of all members, or resets that of one. */
import { twoFactorPolicyMail } from '../../../accounts/mail.ts';
import { resetTwoFactor } from '../../../accounts/members.ts';
import { requireTwoFactor } from '../../../accounts/organizations.ts';
import { Member } from '../../../entities/organization.ts';
import { publicId } from '../../../records/public-id.ts';
import { tellOfTwoFactor } from '../two-factor-mail.ts';
import { idIn } from '../visit.ts';
import type { Change } from '../visit.ts';

const path = '/settings/members';

export async function changePolicy(change: Change, policy: 'required' | 'optional'): Promise<string> {
  const { em, member, organization, hasTwoFactor, isSingleSignOn, context } = change;
  const isRequired = policy === 'required';
  await requireTwoFactor(em, member, { isRequired, isReady: hasTwoFactor || isSingleSignOn });
  const admins = await em.fork().find(Member, { role: 'admin', removedAt: null });
  const facts = { organization: organization.name, actor: member.name, isRequired };
  for (const { email } of admins) void context.mailer?.send(twoFactorPolicyMail(email, facts)).catch(context.onError);
  return `${path}?two-factor`;
}

export async function reset(change: Change): Promise<string> {
  const { em, organization, context } = change;
  const subject = { id: idIn(change, 'member'), organizationId: organization.id };
  const member = await resetTwoFactor(em, change.member, subject);
  tellOfTwoFactor(context, member.email, 'reset', [organization.name]);
  return `${path}?reset=${publicId('member', member.id)}`;
}
