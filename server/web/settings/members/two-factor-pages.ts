/** What admins decide about the two-factor authentication of members. */
import type { Member } from '../../../entities/organization.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { hiddenToken } from '../fields.ts';
import type { Page, Signed } from '../page.ts';
import { cancel, pathOf } from './member-path.ts';

type PolicyView = { signed: Signed; csrfToken: () => string };

export function policySection({ signed: { organization }, csrfToken }: PolicyView): Html {
  const { requiresTwoFactor } = organization;
  const what = requiresTwoFactor
    ? 'Required: members who sign in with a password must turn it on before they see anything of this organization.'
    : 'Optional. If you require it, members who sign in with a password must turn it on before they see anything else.';
  return html` <section class="card" aria-labelledby="two-factor">
    <h2 id="two-factor">Two-factor authentication</h2>
    <p>${what} Single sign-on satisfies it: your provider decides about a second factor.</p>
    <form method="post" action="/settings/members/two-factor/${requiresTwoFactor ? 'optional' : 'required'}">
      ${hiddenToken(csrfToken())}
      <button type="submit" class="${requiresTwoFactor ? 'secondary outline' : ''}">
        ${requiresTwoFactor ? 'Make it optional' : 'Require it for all members'}
      </button>
    </form>
  </section>`;
}

type ResetView = { signed: Signed; member: Member; token: string };

export function resetTwoFactorPage({ signed, member, token }: ResetView): Page {
  const title = `Reset the two-factor authentication of ${member.name}?`;
  const main = html` <article class="card">
    <h1>${title}</h1>
    <p class="quiet">${member.email}</p>
    <p>
      Do this if ${member.name} has lost both the authenticator app and the recovery codes, and only if you are sure
      that it is ${member.name} who asks. The password alone then opens ${signed.organization.name}, until
      ${member.name} turns two-factor authentication on again. Other organizations of the same person are not affected.
    </p>
    <form method="post" action="${pathOf(member)}/two-factor">
      ${hiddenToken(token)}
      <div class="choices"><button class="destroy" type="submit">Reset two-factor</button> ${cancel}</div>
    </form>
  </article>`;
  return { title, main, signed, current: '/settings/members' };
}
