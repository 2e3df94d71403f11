/** One endpoint: its state, what was sent to it, and everything that an admin can do with it. */
import type { WebhookDelivery, WebhookEndpoint } from '../../../entities/webhook.ts';
import { fieldOf } from '../../../problems/problem.ts';
import { publicId } from '../../../records/public-id.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { hiddenToken } from '../fields.ts';
import { foldable, notice } from '../page.ts';
import type { Page, Signed } from '../page.ts';
import { recordTable } from '../record-table.ts';
import { timeAgo } from '../time.ts';
import { endpointFields, endpointPath, webhooksPath } from './endpoint-fields.ts';
import type { Failure } from './endpoint-fields.ts';
import { statusOf } from './webhooks-page.ts';

type View = {
  signed: Signed;
  endpoint: WebhookEndpoint;
  deliveries: WebhookDelivery[];
  token: string;
  done?: string | undefined;
  failure?: Failure;
};

export const shownDeliveries = 50;

export function endpointPage(view: View): Page {
  const { signed, endpoint, deliveries, token, done, failure } = view;
  const failed = failure && fieldOf(failure.problem) === undefined ? failure.problem.message : undefined;
  const main = html` <h1>${endpoint.name}</h1>
    <p class="quiet payload"><code translate="no">${endpoint.url}</code></p>
    <p>${statusOf(endpoint, signed.organization.plan === 'team')}</p>
    ${notice('done', done)}${notice('failed', failed)}
    <div class="choices">
      ${endpoint.activeSince !== null && button(view, 'test', 'Send a test')}
      ${endpoint.activeSince === null ? button(view, 'on', 'Switch on') : button(view, 'off', 'Switch off')}
    </div>
    <section aria-labelledby="deliveries">
      <h2 id="deliveries">Last deliveries</h2>
      ${deliveryTable(view)} ${deliveries.some(({ state }) => state === 'failed') && sendFailed(view)}
    </section>
    ${foldable(
      'change',
      'Change the endpoint',
      html`<form method="post" action="${endpointPath(endpoint)}/change">
        ${hiddenToken(token)} ${endpointFields(failure?.typed ?? endpoint, failure?.problem)}
        <button type="submit">Save</button>
      </form>`,
      failure !== undefined,
    )}
    ${foldable('secret', 'Replace the secret', replaceForm(view))}
    ${foldable(
      'remove',
      'Remove the endpoint',
      html`<p>It will receive no more events, and its deliveries will be deleted.</p>
        ${button(view, 'remove', 'Remove endpoint')}`,
    )}
    <p><a href="${webhooksPath}">All endpoints</a></p>`;
  return { title: endpoint.name, main, signed, current: webhooksPath };
}

const button = ({ endpoint, token }: View, action: string, label: string): Html =>
  html`<form method="post" action="${endpointPath(endpoint)}/${action}">
    ${hiddenToken(token)}
    <button type="submit" class="secondary outline">${label}</button>
  </form>`;

const overlaps = [
  ['day', 'For 1 day'],
  ['week', 'For 1 week'],
  ['now', 'Not at all: others may know the old one'],
] as const;

const replaceForm = ({ endpoint, token }: View): Html =>
  html`<form method="post" action="${endpointPath(endpoint)}/secret">
    ${hiddenToken(token)}
    <fieldset>
      <legend>Requests are also signed with the old secret</legend>
      ${overlaps.map(
        ([value, label]) =>
          html`<label>
            <input type="radio" name="overlap" value="${value}" ${value === 'day' && html` checked`} /> ${label}
          </label>`,
      )}
    </fieldset>
    <button type="submit">Replace secret</button>
  </form>`;

const sendFailed = ({ endpoint, token }: View): Html =>
  html`<form method="post" action="${endpointPath(endpoint)}/resend-failed">
    ${hiddenToken(token)}
    <label for="since">Resend everything that failed since</label>
    <input id="since" name="since" type="date" required />
    <button type="submit" class="secondary outline">Send again</button>
  </form>`;

function deliveryTable(view: View): Html {
  return recordTable({
    label: 'Deliveries',
    heads: ['Event', 'Time', 'State', 'Attempts', 'Response', 'Duration', 'Content'],
    empty: 'Nothing was sent yet.',
    rows: view.deliveries.map((delivery) => ({
      head: html`<code translate="no">${delivery.type}</code>`,
      cells: [
        timeAgo(delivery.attemptedAt ?? delivery.foundAt),
        stateOf(delivery),
        String(delivery.attempts),
        delivery.status === null ? (delivery.error ?? 'None yet') : String(delivery.status),
        delivery.durationMs === null ? '' : `${delivery.durationMs} ms`,
        content(delivery),
      ],
      actions: view.endpoint.activeSince === null ? undefined : sendAgain(view, delivery),
    })),
  });
}

const states = {
  pending: ['warm', 'Waiting'],
  sending: ['warm', 'Being sent'],
  delivered: ['on', 'Delivered'],
  failed: ['off', 'Failed'],
  replaced: ['off', 'Replaced by a newer event'],
} as const;

function stateOf({ state, attempts }: WebhookDelivery): Html {
  const [kind, label] = states[state];
  return html`<span class="badge ${kind}">${state === 'pending' && attempts > 0 ? 'Will be sent again' : label}</span>`;
}

const content = ({ id, request, response }: WebhookDelivery): Html =>
  html`<details>
    <summary>Show<span class="unseen"> the content of ${publicId('event', id)}</span></summary>
    <p class="quiet"><code translate="no">${publicId('event', id)}</code></p>
    <pre class="payload" tabindex="0"><code>${request ?? 'Not sent yet, or erased.'}</code></pre>
    ${response !== null && response !== '' && html`<pre class="payload" tabindex="0"><code>${response}</code></pre>`}
  </details>`;

const sendAgain = ({ endpoint, token }: View, { id, type }: WebhookDelivery): Html =>
  html`<form method="post" action="${endpointPath(endpoint)}/resend">
    ${hiddenToken(token)}
    <input type="hidden" name="event" value="${publicId('event', id)}" />
    <button type="submit" class="secondary outline">Send again<span class="unseen"> ${type}</span></button>
  </form>`;
