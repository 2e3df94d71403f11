/** What a page says that needs the Team plan, and where to ask for it. */
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import type { Visit } from './visit.ts';

/** `need`: `Webhooks need`. */
export const needsTeam = (need: string, visit: Visit, more?: Html): Html =>
  html`<div class="notice plain">
    <p>${need} the Team plan. ${visit.organization.name} is on the Free plan. ${howToUpgrade(visit)}</p>
    ${more}
  </div>`;

export const howToUpgrade = ({ organization, context: { planContact } }: Visit): Html => {
  if (planContact === undefined)
    return html`Ask the operator of this service to upgrade <code>${organization.slug}</code>. Changes apply
      immediately.`;
  const isUrl = /^https?:\/\/\S+$/.test(planContact);
  return html`To upgrade: ${isUrl ? html`<a href="${planContact}">${planContact}</a>` : planContact}`;
};
