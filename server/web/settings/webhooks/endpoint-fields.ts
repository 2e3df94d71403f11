/** The fields of an endpoint: in the form that creates it, and in the one that changes it. */
import { events, recordEventTypes } from '../../../../contract/events.ts';
import type { WebhookEndpoint } from '../../../entities/webhook.ts';
import { nameLength } from '../../../entities/name.ts';
import { fieldOf } from '../../../problems/problem.ts';
import type { SettingsProblem } from '../../../problems/problem.ts';
import { publicId } from '../../../records/public-id.ts';
import type { EndpointFields } from '../../../webhooks/endpoint-fields.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { field, textField } from '../fields.ts';

export const webhooksPath = '/settings/webhooks';
export const endpointPath = ({ id }: Pick<WebhookEndpoint, 'id'>): string =>
  `${webhooksPath}/${publicId('endpoint', id)}`;

/** What was typed, and why it cannot be. */
export type Failure = { problem: SettingsProblem; typed: EndpointFields };

const prefix = 'event ';

export const fieldsIn = (body: unknown): EndpointFields => ({
  name: field(body, 'name'),
  url: field(body, 'url'),
  events: Object.keys(Object(body)).flatMap((name) => (name.startsWith(prefix) ? name.slice(prefix.length) : [])),
});

export function endpointFields(typed: Partial<EndpointFields>, problem?: SettingsProblem): Html {
  const about = (name: string) => (problem && fieldOf(problem) === name ? problem.message : undefined);
  const chosen = new Set(typed.events);
  return html`${textField({ id: 'name', label: 'Name', value: typed.name, most: nameLength.webhook, problem: about('name') })}
    ${textField({
      id: 'url',
      label: 'URL',
      value: typed.url,
      most: 2000,
      hint: 'The https:// URL that your tool gave you.',
      problem: about('url'),
    })}
    <fieldset>
      <legend>Events</legend>
      ${about('events') && html`<p class="problem" role="alert">${about('events')}</p>`}
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
