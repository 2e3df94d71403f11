/** The pages about one member: change the role, remove, and reset two-factor authentication. */
import type { Member, Role } from '../../../entities/organization.ts';
import { publicId } from '../../../records/public-id.ts';
import type { Html } from '../../html.ts';
import { selectField } from '../fields.ts';
import { questionPage } from '../forms.ts';
import type { Page } from '../page.ts';
import type { Visit } from '../visit.ts';

export const pathOf = (member: Member) => `/settings/members/${publicId('member', member.id)}`;

export const roleLabels: Record<Role, string> = { member: 'Member', admin: 'Admin' };

export const roleField = (chosen: Role): Html =>
  selectField({ id: 'role', label: 'Role', options: roleLabels, chosen });

const about = (member: Member) => ({
  about: member.email,
  back: '/settings/members',
  current: '/settings/members' as const,
});

export const rolePage = (visit: Visit, member: Member): Page =>
  questionPage(visit, {
    ...about(member),
    title: `Change the role of ${member.name}`,
    fields: roleField(member.role),
    button: 'Save',
    action: `${pathOf(member)}/role`,
  });

/** `liveKeys`: how many the member has created. */
export function removePage(visit: Visit, member: Member, liveKeys: number): Page {
  const keys =
    liveKeys === 0
      ? ''
      : `The ${liveKeys === 1 ? 'API key' : `${liveKeys} API keys`} that ${member.name} created will keep working; revoke ${liveKeys === 1 ? 'it' : 'them'} on the API Keys page if needed.`;
  return questionPage(visit, {
    ...about(member),
    title: `Remove ${member.name}?`,
    text: `If you remove ${member.name}, they will be signed out immediately and their password deleted. ${keys}`,
    button: 'Remove member',
    isDestructive: true,
    action: `${pathOf(member)}/remove`,
  });
}

export const resetPage = (visit: Visit, member: Member): Page =>
  questionPage(visit, {
    ...about(member),
    title: `Reset the two-factor authentication of ${member.name}?`,
    text: `Do this if ${member.name} has lost both the authenticator app and the recovery codes, and only if you are sure that it is ${member.name} who asks. The password alone then opens ${visit.organization.name}, until ${member.name} turns two-factor authentication on again. Other organizations of the same person are not affected.`,
    button: 'Reset two-factor',
    isDestructive: true,
    action: `${pathOf(member)}/two-factor`,
  });
