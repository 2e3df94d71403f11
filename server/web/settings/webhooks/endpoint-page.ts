/** One endpoint: its state, its deliveries, and everything that an admin can do with it. */
import { shownOfRequest } from '../../../entities/webhook.ts';
import type { WebhookDelivery, WebhookEndpoint } from '../../../entities/webhook.ts';
import { publicId } from '../../../records/public-id.ts';
import type { ReplacementOverlap } from '../../../webhooks/endpoints.ts';
import { html } from '../../html.ts';
import { hidden } from '../fields.ts';
import type { Rejected } from '../fields.ts';
import { buttonForm, failedNotice, postForm, radioField } from '../forms.ts';
import type { Page } from '../page.ts';
import { badge, collapsible, notice, responsiveTable, section } from '../sections.ts';
import { timeAgo } from '../time.ts';
import type { Visit } from '../visit.ts';
import { endpointFields, endpointPath, statusOf, webhooksPath } from './webhooks-page.ts';

type View = {
  endpoint: WebhookEndpoint;
  deliveries: WebhookDelivery[];
  done?: string | undefined;
  rejected?: Rejected | undefined;
};

export const shownDeliveries = 50;

export function endpointPage(visit: Visit, { endpoint, deliveries, done, rejected }: View): Page {
  const path = endpointPath(endpoint);
  const isOn = endpoint.activeSince !== null;
  // Failed deliveries may be older than those listed.
  const mayHaveFailed = isOn && deliveries.length > 0;
  const fields = html`${endpointFields(rejected, endpoint)} <button type="submit">Save</button>`;
  const main = html` <h1>${endpoint.name}</h1>
    <p class="quiet payload"><code translate="no">${endpoint.url}</code></p>
    <p>${statusOf(endpoint, visit.organization.plan === 'team')}</p>
    ${notice('done', done)}${failedNotice(rejected)}
    <div class="choices">
      ${isOn && buttonForm(visit, `${path}/test`, 'Send a test')}
      ${isOn ? buttonForm(visit, `${path}/off`, 'Switch off') : buttonForm(visit, `${path}/on`, 'Switch on')}
    </div>
    ${section(
      'deliveries',
      'Last deliveries',
      html`${deliveryTable(visit, endpoint, deliveries)}
      ${mayHaveFailed && postForm(visit, `${path}/resend-failed`, failedSince)}`,
    )}
    ${collapsible('change', 'Change the endpoint', postForm(visit, `${path}/change`, fields, html` autocomplete="off"`), rejected !== undefined)}
    ${collapsible('secret', 'Replace the secret', postForm(visit, `${path}/secret`, overlapFields))}
    ${collapsible(
      'remove',
      'Remove the endpoint',
      html`<p>It will receive no more events, and its deliveries will be deleted.</p>
        ${buttonForm(visit, `${path}/remove`, 'Remove endpoint')}`,
    )}
    <p><a href="${webhooksPath}">All endpoints</a></p>`;
  return { title: endpoint.name, main, current: webhooksPath };
}

export const overlaps: Record<ReplacementOverlap, string> = {
  day: 'For 1 day',
  week: 'For 1 week',
  now: 'Not at all: others may know the old one',
};

const overlapFields = html`${radioField({
    name: 'overlap',
    legend: 'Requests are also signed with the old secret',
    options: overlaps,
    chosen: 'day',
  })} <button type="submit">Replace secret</button>`;

const failedSince = html`<label for="since">Resend everything that failed since 00:00 UTC on</label>
  <input id="since" name="since" type="date" required />
  <button type="submit" class="secondary outline">Send again</button>`;

const deliveryTable = (visit: Visit, endpoint: WebhookEndpoint, deliveries: readonly WebhookDelivery[]) =>
  responsiveTable({
    label: 'Deliveries',
    empty: 'Nothing has been sent yet.',
    rows: deliveries,
    columns: {
      Event: ({ type }) => html`<code translate="no">${type}</code>`,
      Time: ({ attemptedAt, foundAt }) => timeAgo(attemptedAt ?? foundAt),
      State: (delivery) => stateOf(delivery, endpoint),
      Attempts: ({ attempts }) => String(attempts),
      Response: ({ status, error }) => (status === null ? (error ?? 'None yet') : String(status)),
      Duration: ({ durationMs }) => (durationMs === null ? '' : `${durationMs} ms`),
      Content: content,
    },
    actions: (delivery) => (endpoint.activeSince === null ? undefined : sendAgain(visit, endpoint, delivery)),
  });

const states = {
  pending: ['warm', 'Waiting'],
  sending: ['warm', 'Being sent'],
  delivered: ['on', 'Delivered'],
  failed: ['off', 'Failed'],
  replaced: ['off', 'Replaced by a newer event'],
} as const;

function stateOf({ state, attempts }: WebhookDelivery, { activeSince }: WebhookEndpoint) {
  const [kind, label] = states[state];
  const isRetry = state === 'pending' && attempts > 0 && activeSince !== null;
  return badge(kind, isRetry ? 'Will be sent again' : label);
}

const content = ({ id, requestStart, response }: WebhookDelivery) =>
  html`<details>
    <summary>Show<span class="unseen"> the content of ${publicId('event', id)}</span></summary>
    <p class="quiet"><code translate="no">${publicId('event', id)}</code></p>
    <pre
      class="payload"
      tabindex="0"
    ><code>${requestStart ?? 'Not sent yet, or erased.'}${requestStart?.length === shownOfRequest && '…'}</code></pre>
    ${response !== null && response !== '' && html`<pre class="payload" tabindex="0"><code>${response}</code></pre>`}
  </details>`;

const sendAgain = (visit: Visit, endpoint: WebhookEndpoint, { id, type }: WebhookDelivery) =>
  postForm(
    visit,
    `${endpointPath(endpoint)}/resend`,
    html`${hidden('event', publicId('event', id))}
      <button type="submit" class="secondary outline">Send again<span class="unseen"> ${type}</span></button>`,
  );
