/** Webhooks: the endpoints of the organization, and a form to create one. */
import { events, recordEventTypes } from '../../../../contract/events.ts';
import { nameLength } from '../../../records/name.ts';
import type { WebhookEndpoint } from '../../../entities/webhook.ts';
import { publicId } from '../../../records/public-id.ts';
import type { EndpointChanges, EndpointFields } from '../../../webhooks/endpoint-fields.ts';
import { maximumEndpoints } from '../../../webhooks/endpoints.ts';
import type { IssuedEndpoint } from '../../../webhooks/endpoints.ts';
import { html } from '../../html.ts';
import { changedFrom, field, problemOf, shown, textField } from '../fields.ts';
import type { Rejected } from '../fields.ts';
import { failedNotice, postForm } from '../forms.ts';
import { sectionPage } from '../page.ts';
import type { Page } from '../page.ts';
import {
  badge,
  card,
  counted,
  notice,
  onlyAdmins,
  responsiveTable,
  secretSection,
  section,
  teamNotice,
} from '../sections.ts';
import { timeAgo } from '../time.ts';
import type { Visit } from '../visit.ts';

export const webhooksPath = '/settings/webhooks';
export const endpointPath = ({ id }: Pick<WebhookEndpoint, 'id'>): string =>
  `${webhooksPath}/${publicId('endpoint', id)}`;

type View = {
  endpoints: WebhookEndpoint[];
  /** Confirms the action that led to this page. */
  done?: string | undefined;
  rejected?: Rejected | undefined;
};

/** For members, whose menu has the section too. */
export const onlyAdminsPage = sectionPage(webhooksPath, '', onlyAdmins('manage webhooks'), { status: 403 });

export function webhooksPage(visit: Visit, view: View) {
  const { endpoints, done, rejected } = view;
  const lead = html`An endpoint receives a request whenever a customer, proposal or catalog item changes. See
    <a href="/docs/webhooks">the guide</a> for how to receive and verify it.`;
  const table = responsiveTable({
    label: 'Endpoints',
    empty: 'There are no endpoints yet.',
    rows: endpoints,
    columns: {
      Name: (endpoint) => html`<a href="${endpointPath(endpoint)}">${endpoint.name}</a>`,
      URL: ({ url }) => html`<code translate="no">${url}</code>`,
      Events: (endpoint) => String(endpoint.events.length),
      Status: (endpoint) => statusOf(endpoint, visit.organization.plan === 'team'),
    },
  });
  const content = html`${notice('done', done)}${failedNotice(rejected)}
  ${section('endpoints', counted('Endpoints', `${endpoints.length} of ${maximumEndpoints}`), table)}
  ${createSection(visit, view)}`;
  return sectionPage(webhooksPath, lead, content);
}

export function statusOf({ activeSince, offReason, failingSince }: WebhookEndpoint, onTeam: boolean) {
  if (activeSince === null)
    return html`${badge('off', 'Off')} ${offReason !== null && html`<small>${offReason}</small>`}`;
  if (!onTeam) return badge('off', 'Needs Team');
  if (failingSince !== null) return html`${badge('warm', 'Failing')} <small>since ${timeAgo(failingSince)}</small>`;
  return badge('on', 'On');
}

function createSection(visit: Visit, { endpoints, rejected }: View) {
  if (visit.organization.plan !== 'team') return teamNotice('Webhooks need', visit);
  if (endpoints.length >= maximumEndpoints)
    return html`<p class="notice plain">
      All ${maximumEndpoints} endpoints are in use. Remove one to create another.
    </p>`;
  const fields = html`${endpointFields(rejected)} <button type="submit">Create endpoint</button>`;
  return card('create', 'Create an endpoint', postForm(visit, webhooksPath, fields));
}

/** Shown once, after an endpoint was created or its secret replaced. */
export const secretPage = ({ endpoint, secret }: IssuedEndpoint): Page => {
  const main = secretSection({
    title: `Copy the secret of “${endpoint.name}” now`,
    isWholePage: true,
    text: 'Your receiver needs it to verify that a request comes from this service. If you lose it, replace it.',
    id: 'secret',
    value: secret,
    name: 'the secret',
    next: endpointPath(endpoint),
  });
  return { title: 'The secret of your endpoint', main, current: webhooksPath, status: 201 };
};

const prefix = 'event ';

export const fieldsIn = (body: unknown): EndpointFields => ({
  name: field(body, 'name'),
  url: field(body, 'url'),
  events: Object.keys(Object(body)).flatMap((name) => (name.startsWith(prefix) ? name.slice(prefix.length) : [])),
});

/** What was changed in the form of a stored endpoint. */
export const changesIn = (body: unknown): EndpointChanges => ({
  name: changedFrom(body, 'name'),
  url: changedFrom(body, 'url'),
  events: fieldsIn(body).events,
  shownEvents: field(body, 'shown events').split(' '),
});

/** What the form shows, in the order in which a browser sends it. */
const shownFields = ({ name, url, events: chosen }: EndpointFields, rejected: Rejected | undefined) => [
  shown('name', name, rejected),
  shown('url', url, rejected),
  shown('events', recordEventTypes.filter((type) => chosen.includes(type)).join(' '), rejected),
];

/** Filled with what was typed if the form was rejected, otherwise with what is stored. */
export function endpointFields(rejected: Rejected | undefined, stored?: EndpointFields) {
  const chosen = new Set(rejected ? fieldsIn(rejected.body).events : stored?.events);
  const problem = problemOf(rejected, 'events');
  return html`${stored && shownFields(stored, rejected)}
    ${textField({ id: 'name', label: 'Name', most: nameLength.webhook, value: stored?.name, rejected })}
    ${textField({
      id: 'url',
      label: 'URL',
      most: 2000,
      hint: 'The https:// URL that your tool gave you.',
      value: stored?.url,
      rejected,
    })}
    <fieldset>
      <legend>Events</legend>
      ${problem && html`<p class="problem" id="events-problem" role="alert">${problem}</p>`}
      ${recordEventTypes.map(
        (type, index) =>
          html`<label>
            <input
              type="checkbox"
              name="${prefix}${type}"
              ${chosen.has(type) && html` checked`}
              ${problem !== undefined && index === 0 && html` autofocus aria-describedby="events-problem"`}
            />
            ${events[type].summary.replace(/\.$/, '')} <code translate="no">${type}</code>
            ${type === 'import.completed' && html`<small>instead of an event for each record of an import</small>`}
          </label>`,
      )}
    </fieldset>`;
}
