/** The members of the organization, with an admin's actions for each. */
import type { Member, Role } from '../../../entities/organization.ts';
import { nameLength } from '../../../entities/name.ts';
import { fieldOf } from '../../../problems/problem.ts';
import type { SettingsProblem } from '../../../problems/problem.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { hiddenToken, selectField, textField } from '../fields.ts';
import { notice } from '../page.ts';
import type { Page, Signed } from '../page.ts';
import { recordTable } from '../record-table.ts';
import { timeAgo } from '../time.ts';
import { cancel, pathOf } from './member-path.ts';
import { policySection } from './two-factor-pages.ts';

export type MembersView = {
  signed: Signed;
  members: Member[];
  /** Addresses of members who have a password or another way to sign in. */
  ready: ReadonlySet<string>;
  /** Ids of members who have turned on two-factor authentication. */
  protectedIds: ReadonlySet<string>;
  csrfToken: () => string;
  done?: string | undefined;
  failure?: string | undefined;
  /** A link that this request issued. */
  issued?: { member: Member; link: string; hours: number; mail: 'sent' | 'failed' | 'none' };
  /** What was entered into the form, and what is wrong with it. */
  typed?: { name: string; email: string; role: string; problem?: SettingsProblem };
  /** The same for the form of the organization. */
  details?: { name: string; currency: string; problem: SettingsProblem };
};

export function membersPage(view: MembersView): Page {
  const { signed, members, done, failure, issued } = view;
  const isAdmin = signed.member.role === 'admin';
  const main = html` <h1>Members</h1>
    <p class="lead">Admins create, replace and revoke API keys and manage members. Members can see keys and usage.</p>
    ${notice('done', done)}${notice('failed', failure)} ${issued && issuedLink(issued)}
    ${!issued && (isAdmin ? inviteSection(view) : html`<p class="notice plain">Only admins of the organization can manage members.</p>`)}
    <section aria-labelledby="members">
      <h2 id="members">Members <span class="count">${members.length}</span></h2>
      ${recordTable({ label: 'Members', heads: ['Name', 'Email', 'Role', ...(isAdmin ? ['Two-factor'] : []), 'Last sign-in'], rows: members.map((member) => memberRow(member, view)), empty: 'There are no members.' })}
    </section>
    ${!issued && isAdmin && html`${policySection(view)} ${organizationSection(view)}`}`;
  return { title: issued ? 'Password link' : 'Members', main, signed, current: '/settings/members' };
}

function memberRow(member: Member, { signed, ready, protectedIds, csrfToken }: MembersView) {
  const isAdmin = signed.member.role === 'admin';
  const hasTwoFactor = protectedIds.has(member.id);
  const isYou = member.id === signed.member.id;
  const pending = !ready.has(member.id);
  return {
    head: html`${member.name}${isYou && html` <small>you</small>`}`,
    cells: [
      member.email,
      member.role === 'admin' ? 'Admin' : 'Member',
      ...(isAdmin ? [hasTwoFactor ? html`<span class="badge on">On</span>` : 'Off'] : []),
      member.lastSignedInAt
        ? timeAgo(member.lastSignedInAt)
        : html`${pending ? html`<span class="badge warm">Invited</span>` : 'Never'}`,
    ],
    actions: isAdmin ? actions(member, { isYou, hasTwoFactor, token: csrfToken() }) : undefined,
  };
}

type Actions = { isYou: boolean; hasTwoFactor: boolean; token: string };

function actions(member: Member, { isYou, hasTwoFactor, token }: Actions): Html {
  const whose = html`<span class="unseen"> ${member.name}</span>`;
  return html`<a href="${pathOf(member)}/role">Change role${whose}</a>
    ${
      !isYou &&
      html`<form method="post" action="${pathOf(member)}/link">
        ${hiddenToken(token)}<button type="submit" class="link">New password link${whose}</button>
      </form>`
    }
    ${!isYou && hasTwoFactor && html`<a href="${pathOf(member)}/two-factor">Reset two-factor${whose}</a>`}
    <a class="danger" href="${pathOf(member)}/remove">Remove${whose}</a>`;
}

const mailSentences = {
  sent: 'We also sent it by email.',
  failed: 'We could not email it. Send it to them yourself, and check the mail server.',
  none: 'Send it to them yourself.',
};

const issuedLink = ({ member, link, hours, mail }: NonNullable<MembersView['issued']>): Html =>
  html` <section class="card fresh" aria-labelledby="fresh" data-secret>
    <h2 id="fresh" tabindex="-1" autofocus>Password link for ${member.name}</h2>
    <p>
      <strong>This is the only time it is shown.</strong> ${member.name} can use it once, within ${hours} hours, to set
      a password. ${mailSentences[mail]}
    </p>
    <div class="copyable">
      <code id="link" class="key" translate="no">${link}</code>
      <button type="button" data-copy="link" hidden>Copy<span class="unseen"> the link</span></button>
    </div>
    <p><a href="/settings/members">Done</a></p>
  </section>`;

function inviteSection({ csrfToken, typed }: MembersView): Html {
  const problemOf = (name: 'name' | 'email') =>
    typed?.problem && fieldOf(typed.problem) === name ? typed.problem.message : undefined;
  return html` <section class="card" aria-labelledby="invite">
    <h2 id="invite">Invite a member</h2>
    <form method="post" action="/settings/members" class="columns">
      ${hiddenToken(csrfToken())}
      ${textField({ id: 'name', label: 'Name', value: typed?.name, most: nameLength.member, problem: problemOf('name') })}
      ${textField({ id: 'email', label: 'Email', type: 'email', value: typed?.email, most: 254, problem: problemOf('email') })}
      ${roleField(typed?.role === 'admin' ? 'admin' : 'member')}
      <button type="submit">Invite</button>
    </form>
  </section>`;
}

function organizationSection({ signed: { organization }, csrfToken, details }: MembersView): Html {
  const { name, currency, problem } = { ...organization, problem: undefined, ...details };
  const problemOf = (field: string) => (problem && fieldOf(problem) === field ? problem.message : undefined);
  return html` <section class="card" aria-labelledby="details">
    <h2 id="details">Organization</h2>
    <form method="post" action="/settings/members/organization" class="columns">
      ${hiddenToken(csrfToken())}
      ${textField({ id: 'organizationName', label: 'Name of the organization', value: name, most: nameLength.organization, problem: problemOf('name') })}
      ${textField({ id: 'currency', label: 'Currency', value: currency, most: 3, hint: 'For new items without a currency.', problem: problemOf('currency') })}
      <button type="submit">Save</button>
    </form>
  </section>`;
}

const roleField = (chosen: Role): Html =>
  selectField({ id: 'role', label: 'Role', options: { member: 'Member', admin: 'Admin' }, chosen });

type MemberView = { signed: Signed; member: Member; token: string };

export function rolePage({ signed, member, token }: MemberView): Page {
  const title = `Change the role of ${member.name}`;
  const main = html` <article class="card">
    <h1>${title}</h1>
    <p class="quiet">${member.email}</p>
    <form method="post" action="${pathOf(member)}/role">
      ${hiddenToken(token)} ${roleField(member.role)}
      <div class="choices"><button type="submit">Save</button> ${cancel}</div>
    </form>
  </article>`;
  return { title, main, signed, current: '/settings/members' };
}

export function removePage({ signed, member, token, liveKeys }: MemberView & { liveKeys: number }): Page {
  const title = `Remove ${member.name}?`;
  const keys =
    liveKeys === 0
      ? ''
      : `The ${liveKeys === 1 ? 'API key' : `${liveKeys} API keys`} that ${member.name} created will keep working; revoke ${liveKeys === 1 ? 'it' : 'them'} on the API Keys page if needed.`;
  const main = html` <article class="card">
    <h1>${title}</h1>
    <p class="quiet">${member.email}</p>
    <p>If you remove ${member.name}, they will be signed out immediately and their password deleted. ${keys}</p>
    <form method="post" action="${pathOf(member)}/remove">
      ${hiddenToken(token)}
      <div class="choices"><button class="destroy" type="submit">Remove member</button> ${cancel}</div>
    </form>
  </article>`;
  return { title, main, signed, current: '/settings/members' };
}
