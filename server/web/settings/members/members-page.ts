/** The members of the organization, and the pages to change a role, remove a member, and reset two-factor authentication. */
import { membersOnPage } from '../../../accounts/members.ts';
import type { MemberState } from '../../../accounts/members.ts';
import { linkHours } from '../../../accounts/password-links.ts';
import { nameLength } from '../../../records/name.ts';
import type { Member, Role } from '../../../entities/organization.ts';
import { publicId } from '../../../records/public-id.ts';
import { html } from '../../html.ts';
import { field, problemOf, selectField, shown, textField } from '../fields.ts';
import type { Rejected } from '../fields.ts';
import { postForm, questionPage } from '../forms.ts';
import { pageLinks, pathWith, sectionPage } from '../page.ts';
import { badge, card, counted, notice, onlyAdmins, responsiveTable, secretSection, section } from '../sections.ts';
import { timeAgo } from '../time.ts';
import type { Visit } from '../visit.ts';

export type IssuedLink = { member: Member; link: string; mail: keyof typeof mailSentences };

export type MembersView = {
  /** Those on this page of the list. */
  members: MemberState[];
  search: { text: string; after: string | undefined };
  hasMore: boolean;
  /** How many members there are. */
  count: number;
  done?: string | undefined;
  failure?: string;
  /** A link that this request issued. */
  issued?: IssuedLink;
  rejectedInvitation?: Rejected | undefined;
  rejectedDetails?: Rejected | undefined;
};

const path = '/settings/members' as const;
const pathOf = (member: Member) => `${path}/${publicId('member', member.id)}`;

export const roleLabels: Record<Role, string> = { member: 'Member', admin: 'Admin' };

const roleField = (chosen: Role) => selectField({ id: 'role', label: 'Role', options: roleLabels, chosen });

export function membersPage(visit: Visit, view: MembersView) {
  const { members, done, failure, issued } = view;
  const isAdmin = visit.member.role === 'admin';
  const lead =
    'Admins manage members, API keys, webhooks, imports and exports. Members can see records, keys and usage.';
  const { text, after } = view.search;
  // Those on a later page may have left since the page before it was shown.
  const empty = after === undefined ? 'No member matches this search.' : 'There are no more members.';
  const table = memberTable(visit, isAdmin, members, empty);
  const isWhole = view.count <= membersOnPage && text === '' && after === undefined;
  const list = isWhole ? table : html`${searchForm(view)} ${table} ${pagesOf(view)}`;
  const content = html`${notice('done', done)}${notice('failed', failure)} ${issued && issuedLink(issued)}
  ${!issued && (isAdmin ? inviteSection(visit, view.rejectedInvitation) : onlyAdmins('manage members'))}
  ${section('members', counted('Members', view.count), list)}
  ${!issued && isAdmin && html`${policySection(visit)} ${organizationSection(visit, view.rejectedDetails)}`}`;
  return sectionPage(path, lead, content, issued && { title: 'Password link', status: 201 });
}

const searchForm = ({ search: { text } }: MembersView) =>
  html`<form method="get" action="/settings/members" class="search">
    ${textField({ id: 'q', label: 'Search', value: text, most: 100, isOptional: true, hint: 'Names and email addresses.' })}
    <button type="submit">Search</button>
    ${text !== '' && html`<a href="/settings/members">Clear</a>`}
  </form>`;

function pagesOf({ members, search: { text, after }, hasMore }: MembersView) {
  const last = members.at(-1);
  return pageLinks(
    after !== undefined && pathWith(path, { q: text }),
    hasMore && last !== undefined && pathWith(path, { q: text, after: publicId('member', last.member.id) }),
  );
}

function memberTable(visit: Visit, isAdmin: boolean, rows: readonly MemberState[], empty: string) {
  const never = (hasPassword: boolean) => (hasPassword ? 'Never' : badge('warm', 'Invited'));
  const twoFactor = ({ hasTwoFactor }: MemberState) => (hasTwoFactor ? badge('on', 'On') : 'Off');
  return responsiveTable({
    label: 'Members',
    rows,
    columns: {
      Name: ({ member: { id, name } }) => html`${name}${id === visit.member.id && html` <small>you</small>`}`,
      Email: ({ member }) => member.email,
      Role: ({ member }) => roleLabels[member.role],
      ...(isAdmin && { 'Two-factor': twoFactor }),
      'Last sign-in': ({ member: { lastSignedInAt: at }, hasPassword }) => (at ? timeAgo(at) : never(hasPassword)),
    },
    actions: (state) => (isAdmin ? actions(visit, state) : undefined),
    empty,
  });
}

function actions(visit: Visit, { member, hasTwoFactor }: MemberState) {
  const isYou = member.id === visit.member.id;
  const whose = html`<span class="unseen"> ${member.name}</span>`;
  const newLink = html`<button type="submit" class="link">New password link${whose}</button>`;
  return html`<a href="${pathOf(member)}/role">Change role${whose}</a>
    ${!isYou && postForm(visit, `${pathOf(member)}/link`, newLink)}
    ${!isYou && hasTwoFactor && html`<a href="${pathOf(member)}/two-factor">Reset two-factor${whose}</a>`}
    <a class="danger" href="${pathOf(member)}/remove">Remove${whose}</a>`;
}

const mailSentences = {
  sent: 'We also sent it by email.',
  failed: 'We could not email it. Send it to them yourself, and check the mail server.',
  limited: 'We have sent them several emails within an hour, so we did not send another. Send it to them yourself.',
  none: 'Send it to them yourself.',
};

const issuedLink = ({ member, link, mail }: IssuedLink) =>
  secretSection({
    title: `Password link for ${member.name}`,
    text: `${member.name} can use it once, within ${linkHours} hours, to set a password. ${mailSentences[mail]}`,
    id: 'link',
    value: link,
    name: 'the link',
    next: path,
  });

function inviteSection(visit: Visit, rejected: Rejected | undefined) {
  const role: Role = field(rejected?.body, 'role') === 'admin' ? 'admin' : 'member';
  const fields = html`${textField({ id: 'name', label: 'Name', most: nameLength.member, rejected })}
    ${textField({ id: 'email', label: 'Email', inputmode: 'email', most: 254, rejected })} ${roleField(role)}
    <button type="submit">Invite</button>`;
  return card('invite', 'Invite a member', postForm(visit, path, fields, html` class="stack"`));
}

/** The setting that requires two-factor authentication of all members. */
function policySection(visit: Visit) {
  const { requiresTwoFactor } = visit.organization;
  const what = requiresTwoFactor
    ? 'Required: members who sign in with a password must turn it on before they see anything of this organization.'
    : 'Optional. If you require it, members who sign in with a password must turn it on before they see anything else.';
  const button = html`<button type="submit" class="${requiresTwoFactor && 'secondary outline'}">
    ${requiresTwoFactor ? 'Make it optional' : 'Require it for all members'}
  </button>`;
  const content = html`<p>
      ${what} Single sign-on satisfies it: your provider decides whether to ask for a second factor.
    </p>
    ${postForm(visit, `/settings/members/two-factor/${requiresTwoFactor ? 'optional' : 'required'}`, button)}`;
  return card('two-factor', 'Two-factor authentication', content);
}

function organizationSection(visit: Visit, rejected: Rejected | undefined) {
  const { name, currency } = visit.organization;
  const fields = html`${shown('organizationName', name, rejected)} ${shown('currency', currency, rejected)}
    ${textField({
      id: 'organizationName',
      label: 'Name of the organization',
      most: nameLength.organization,
      value: name,
      rejected,
      problem: problemOf(rejected, 'name'),
    })}
    ${textField({
      id: 'currency',
      label: 'Currency',
      most: 3,
      hint: 'For new items without a currency.',
      value: currency,
      rejected,
    })} <button type="submit">Save</button>`;
  return card('details', 'Organization', postForm(visit, `${path}/organization`, fields, html` class="stack"`));
}

const about = (member: Member) => ({ about: member.email, current: path });

export const rolePage = (visit: Visit, member: Member) =>
  questionPage(visit, {
    ...about(member),
    title: `Change the role of ${member.name}`,
    fields: roleField(member.role),
    button: 'Save',
    action: `${pathOf(member)}/role`,
  });

/** `liveKeys`: how many live keys the member created. */
export function removePage(visit: Visit, member: Member, liveKeys: number) {
  const keys =
    liveKeys === 0
      ? ''
      : `The ${liveKeys === 1 ? 'API key' : `${liveKeys} API keys`} that ${member.name} created will keep working; revoke ${liveKeys === 1 ? 'it' : 'them'} on the API Keys page if needed.`;
  return questionPage(visit, {
    ...about(member),
    title: `Remove ${member.name}?`,
    text: `If you remove ${member.name}, they will immediately lose access to ${visit.organization.name}, and their password for it will be deleted. ${keys}`,
    button: 'Remove member',
    isDestructive: true,
    action: `${pathOf(member)}/remove`,
  });
}

export const resetPage = (visit: Visit, member: Member) =>
  questionPage(visit, {
    ...about(member),
    title: `Reset the two-factor authentication of ${member.name}?`,
    text: `Do this if ${member.name} has lost both the authenticator app and the recovery codes, and only if you are sure that it is ${member.name} who is asking. The password alone will then be enough to sign in to ${visit.organization.name}, until ${member.name} turns two-factor authentication on again. Other organizations of the same person are not affected.`,
    button: 'Reset two-factor',
    isDestructive: true,
    action: `${pathOf(member)}/two-factor`,
  });
