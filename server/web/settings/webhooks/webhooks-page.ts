/** Webhooks: the endpoints of the organization, and a form for another one. */
import type { WebhookEndpoint } from '../../../entities/webhook.ts';
import { maximumEndpoints } from '../../../webhooks/endpoints.ts';
import type { IssuedEndpoint } from '../../../webhooks/endpoints.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import type { Rejected } from '../fields.ts';
import { failedNotice, postForm } from '../forms.ts';
import type { Page } from '../page.ts';
import { recordTable } from '../record-table.ts';
import { card, notice, secretSection } from '../sections.ts';
import { needsTeam } from '../team-plan.ts';
import { timeAgo } from '../time.ts';
import type { Visit } from '../visit.ts';
import { endpointFields, endpointPath, webhooksPath } from './endpoint-fields.ts';

type View = {
  endpoints: WebhookEndpoint[];
  /** What was done before this page was requested. */
  done?: string | undefined;
  rejected?: Rejected | undefined;
};

export function webhooksPage(visit: Visit, view: View): Page {
  const { endpoints, done, rejected } = view;
  const main = html` <h1>Webhooks</h1>
    <p class="lead">
      An endpoint receives a request whenever a customer, proposal or catalog item changes. See
      <a href="/docs/webhooks">the guide</a> for how to receive and verify it.
    </p>
    ${notice('done', done)}${failedNotice(rejected)}
    <section aria-labelledby="endpoints">
      <h2 id="endpoints">Endpoints <span class="count">${endpoints.length} of ${maximumEndpoints}</span></h2>
      ${recordTable({
        label: 'Endpoints',
        heads: ['Name', 'URL', 'Events', 'Status'],
        empty: 'There are no endpoints yet.',
        rows: endpoints.map((endpoint) => ({
          head: html`<a href="${endpointPath(endpoint)}">${endpoint.name}</a>`,
          cells: [
            html`<code translate="no">${endpoint.url}</code>`,
            String(endpoint.events.length),
            statusOf(endpoint, visit.organization.plan === 'team'),
          ],
        })),
      })}
    </section>
    ${createSection(visit, view)}`;
  return { title: 'Webhooks', main, current: webhooksPath };
}

export function statusOf({ activeSince, offReason, failingSince }: WebhookEndpoint, onTeam: boolean): Html {
  if (activeSince === null)
    return html`<span class="badge off">Off</span> ${offReason !== null && html`<small>${offReason}</small>`}`;
  if (!onTeam) return html`<span class="badge off">Needs Team</span>`;
  if (failingSince !== null)
    return html`<span class="badge warm">Failing</span> <small>since ${timeAgo(failingSince)}</small>`;
  return html`<span class="badge on">On</span>`;
}

function createSection(visit: Visit, { endpoints, rejected }: View): Html {
  if (visit.organization.plan !== 'team') return needsTeam('Webhooks need', visit);
  if (endpoints.length >= maximumEndpoints)
    return html`<p class="notice plain">
      All ${maximumEndpoints} endpoints are in use. Remove one to create another.
    </p>`;
  const fields = html`${endpointFields(rejected)} <button type="submit">Create endpoint</button>`;
  return card('create', 'Create an endpoint', postForm(visit, webhooksPath, fields));
}

/** Shown once, after an endpoint was created or its secret replaced. */
export const secretPage = ({ endpoint, secret, note }: IssuedEndpoint & { note?: string }): Page => ({
  title: 'The secret of your endpoint',
  main: secretSection({
    title: `Copy the secret of “${endpoint.name}” now`,
    isWholePage: true,
    text: 'Your receiver needs it to verify that a request comes from this service. If you lose it, replace it.',
    ...(note !== undefined && { more: html`<p>${note}</p>` }),
    id: 'secret',
    value: secret,
    name: 'the secret',
    next: endpointPath(endpoint),
  }),
  current: webhooksPath,
  status: 201,
});
