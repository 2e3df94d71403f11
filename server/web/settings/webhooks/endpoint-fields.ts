/** The fields of an endpoint: in the form that creates it, and in the one that changes it. */
import { events, recordEventTypes } from '../../../../contract/events.ts';
import type { WebhookEndpoint } from '../../../entities/webhook.ts';
import { nameLength } from '../../../entities/name.ts';
import { publicId } from '../../../records/public-id.ts';
import type { EndpointFields } from '../../../webhooks/endpoint-fields.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { field, problemOf, textField } from '../fields.ts';
import type { Rejected } from '../fields.ts';

export const webhooksPath = '/settings/webhooks';
export const endpointPath = ({ id }: Pick<WebhookEndpoint, 'id'>): string =>
  `${webhooksPath}/${publicId('endpoint', id)}`;

const prefix = 'event ';

export const fieldsIn = (body: unknown): EndpointFields => ({
  name: field(body, 'name'),
  url: field(body, 'url'),
  events: Object.keys(Object(body)).flatMap((name) => (name.startsWith(prefix) ? name.slice(prefix.length) : [])),
});

/** What was typed where the form was rejected; otherwise what is stored. */
export function endpointFields(rejected: Rejected | undefined, stored?: EndpointFields): Html {
  const chosen = new Set(rejected ? fieldsIn(rejected.body).events : stored?.events);
  const problem = problemOf(rejected, 'events');
  return html`${textField({ id: 'name', label: 'Name', most: nameLength.webhook, value: stored?.name, rejected })}
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
      ${problem && html`<p class="problem" role="alert">${problem}</p>`}
      ${recordEventTypes.map(
        (type) =>
          html`<label>
            <input type="checkbox" name="${prefix}${type}" ${chosen.has(type) && html` checked`} />
            ${events[type].summary.replace(/\.$/, '')} <code translate="no">${type}</code>
            ${type === 'import.completed' && html`<small>instead of an event for each record of an import</small>`}
          </label>`,
      )}
    </fieldset>`;
}
