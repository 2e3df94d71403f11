/** Webhooks: the endpoints of the organization, and a form for another one. */
import type { WebhookEndpoint } from '../../../entities/webhook.ts';
import { fieldOf } from '../../../problems/problem.ts';
import { maximumEndpoints } from '../../../webhooks/endpoints.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { hiddenToken } from '../fields.ts';
import { notice } from '../page.ts';
import type { Page, Signed } from '../page.ts';
import { recordTable } from '../record-table.ts';
import { needsTeam } from '../team-plan.ts';
import { timeAgo } from '../time.ts';
import { endpointFields, endpointPath, webhooksPath } from './endpoint-fields.ts';
import type { Failure } from './endpoint-fields.ts';

type View = {
  signed: Signed;
  endpoints: WebhookEndpoint[];
  token: string;
  /** What was done before this page was requested. */
  done?: string | undefined;
  failure?: Failure;
};

export function webhooksPage(view: View): Page {
  const { signed, endpoints, done, failure } = view;
  const failed = failure && fieldOf(failure.problem) === undefined ? failure.problem.message : undefined;
  const main = html` <h1>Webhooks</h1>
    <p class="lead">
      An endpoint receives a request whenever a customer, proposal or catalog item changes. See
      <a href="/docs/webhooks">the guide</a> for how to receive and verify it.
    </p>
    ${notice('done', done)}${notice('failed', failed)}
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
            statusOf(endpoint, signed.organization.plan === 'team'),
          ],
        })),
      })}
    </section>
    ${createSection(view)}`;
  return { title: 'Webhooks', main, signed, current: webhooksPath };
}

export function statusOf({ activeSince, offReason, failingSince }: WebhookEndpoint, onTeam: boolean): Html {
  if (activeSince === null)
    return html`<span class="badge off">Off</span> ${offReason !== null && html`<small>${offReason}</small>`}`;
  if (!onTeam) return html`<span class="badge off">Needs Team</span>`;
  if (failingSince !== null)
    return html`<span class="badge warm">Failing</span> <small>since ${timeAgo(failingSince)}</small>`;
  return html`<span class="badge on">On</span>`;
}

function createSection({ signed, endpoints, token, failure }: View): Html {
  if (signed.organization.plan !== 'team') return needsTeam('Webhooks need', signed);
  if (endpoints.length >= maximumEndpoints)
    return html`<p class="notice plain">
      All ${maximumEndpoints} endpoints are in use. Remove one to create another.
    </p>`;
  return html` <section class="card" aria-labelledby="create">
    <h2 id="create">Create an endpoint</h2>
    <form method="post" action="${webhooksPath}">
      ${hiddenToken(token)} ${endpointFields(failure?.typed ?? {}, failure?.problem)}
      <button type="submit">Create endpoint</button>
    </form>
  </section>`;
}

/** Shown once, after an endpoint was created or its secret replaced. */
export function secretPage(view: { signed: Signed; endpoint: WebhookEndpoint; secret: string; note?: string }): Page {
  const { signed, endpoint, secret, note } = view;
  const main = html` <section class="card fresh" aria-labelledby="fresh" data-secret>
    <h1 id="fresh" tabindex="-1" autofocus>Copy the secret of “${endpoint.name}” now</h1>
    <p>
      <strong>This is the only time it is shown.</strong> Your receiver needs it to verify that a request comes from
      this service. If you lose it, replace it.
    </p>
    ${note !== undefined && html`<p>${note}</p>`}
    <div class="copyable">
      <code id="secret" class="key" translate="no">${secret}</code>
      <button type="button" data-copy="secret" hidden>Copy<span class="unseen"> the secret</span></button>
    </div>
    <p><a href="${endpointPath(endpoint)}">Done</a></p>
  </section>`;
  return { title: 'The secret of your endpoint', main, signed, current: webhooksPath };
}
