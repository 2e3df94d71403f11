/** The consent page: which application wants a key, for which organization, and what the key may do. */
import type { AuthorizationRequest, Authorization } from '../../../connect/authorization.ts';
import { consentPath } from '../../../connect/metadata.ts';
import { hostOf, isLoopback } from '../../../connect/redirect-uri.ts';
import type { ApiKey, Member } from '../../../entities/organization.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { field, hidden } from '../fields.ts';
import type { Rejected } from '../fields.ts';
import { failedNotice, postForm } from '../forms.ts';
import { expiryField } from '../keys/keys-page.ts';
import { organizationSelect } from '../layout.ts';
import { cardPage, pathWith } from '../page.ts';
import { badge, definitionList, teamNotice } from '../sections.ts';
import { timeDay } from '../time.ts';
import type { Visit } from '../visit.ts';

type ConnectView = AuthorizationRequest & {
  /** Back to the application, without a key. */
  cancelUrl: string;
  /** The admins whom a member can ask. */
  admins: Pick<Member, 'name' | 'email'>[];
  /** The key that this one replaces. */
  before: ApiKey | undefined;
  rejected?: Rejected | undefined;
};

export function connectPage(visit: Visit, view: ConnectView) {
  const { authorization, cancelUrl, rejected } = view;
  const { client, redirectUri } = authorization;
  const main = html`<article class="card">
      <h1>Connect ${client.name}?</h1>
      <p>An application is asking for an API key for <strong>${visit.organization.name}</strong>.</p>
      ${failedNotice(rejected)}
      ${definitionList('fields', [
        ['Application', html`${client.name} ${publisher(authorization)}`],
        ['The key is sent to', destination(redirectUri)],
        [
          'You are signed in as',
          html`<span data-who>${visit.member.name}<br /><small>${visit.member.email}</small></span>`,
        ],
        ['The application will be able to', keyPermissions],
      ])}
      ${obstacleOf(visit, view) ?? consentForm(visit, view)}
      <p>
        <a href="${cancelUrl}" role="button" class="secondary outline full" rel="noreferrer">Cancel and return</a>
      </p>
    </article>
    ${visit.memberships.length > 1 && organizationForm(visit, view)}`;
  return { title: `Connect ${client.name}`, main, connecting: { isConsent: true } };
}

/** What a key may do: v1 has no scopes. */
const keyPermissions = html`<ul>
  <li>read all customers, proposals and catalog items</li>
  <li>create and change customers</li>
  <li>create catalog items</li>
</ul>`;

const publisher = ({ client }: Authorization): Html =>
  client.publisher === undefined
    ? html`${badge('warm', 'Not verified')}
        <small>Any application can use this name. Continue only if you started this yourself.</small>`
    : html`${badge('on', 'Verified')} <small>published by ${client.publisher}</small>`;

const destination = (redirectUri: string): Html =>
  isLoopback(new URL(redirectUri))
    ? html`a program on this computer <small>(${hostOf(redirectUri)})</small>`
    : html`<strong>${hostOf(redirectUri)}</strong>`;

/** Why this person cannot create the key, and what to do. */
function obstacleOf(visit: Visit, { admins }: ConnectView): Html | undefined {
  const { member, organization } = visit;
  if (organization.plan !== 'team') return teamNotice('API keys and API access need', visit);
  if (member.role === 'admin') return undefined;
  return html`<div class="notice plain">
    <p>Only admins of ${organization.name} can connect applications. Ask one of them to do it:</p>
    <ul>
      ${admins.map(({ name, email }) => html`<li>${name} (${email})</li>`)}
    </ul>
  </div>`;
}

const consentForm = (visit: Visit, { sent, before, authorization, rejected }: ConnectView): Html =>
  postForm(
    visit,
    // The browser opens this page again if it reloads a rejected form.
    pathWith(consentPath, sent),
    html`${Object.entries(sent).map(([name, value]) => hidden(name, value))} ${expiryField(rejected)}
      <p class="quiet">
        ${
          before
            ? html`The new key replaces “${before.name}”, which you connected on ${timeDay(before.createdAt)} and which
              keeps working for another day.`
            : 'This creates a key under API Keys. Revoke it there to disconnect the application immediately.'
        }
      </p>
      ${before && authorization.client.publisher !== undefined && keepField(rejected)}
      <button type="submit" data-deliberate>Create key and connect</button>`,
  );

/** A verified application has the same client_id wherever it is installed, so its previous key may be another computer's. */
function keepField(rejected: Rejected | undefined): Html {
  const checked = field(rejected?.body, 'keep') !== '' && html` checked`;
  return html`<p>
    <label><input type="checkbox" name="keep" ${checked} /> Keep that key for another computer</label>
  </p>`;
}

/** Switches to another organization of the same person; afterward, this page opens again. */
function organizationForm(visit: Visit, { sent }: ConnectView): Html {
  const fields = html`${hidden('next', pathWith(consentPath, sent))}
    <label for="organization">Connect another organization</label>
    ${organizationSelect(visit)} <button class="secondary outline" type="submit">Switch</button>`;
  return html`<article class="card">${postForm(visit, '/settings/organization', fields)}</article>`;
}

/** For a request that only the developer of the application can fix. */
export function rejectedPage(sentence: string, returnTo: string | undefined) {
  const content = html`<p>${sentence}</p>
    <p class="quiet">
      Nothing was changed. Start again from the application; if you see this page again, contact its developer.
    </p>
    ${returnTo !== undefined && html`<p><a href="${returnTo}" role="button" class="outline" rel="noreferrer">Return to ${hostOf(returnTo)}</a></p>`}`;
  const more = { title: 'Not connected', connecting: { isConsent: false }, status: 400 };
  return cardPage('This application cannot be connected', content, more);
}
