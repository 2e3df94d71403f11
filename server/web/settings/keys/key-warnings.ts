/** Keys that need attention, on every page that shows keys. */
import { readWarnings } from '../../../keys/warnings.ts';
import type { Warning } from '../../../keys/warnings.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import type { Visit } from '../visit.ts';
import { keyPath } from './key-rows.ts';

/** On the Free plan no key works: that is said elsewhere. */
export const warningsFor = async ({ em, organization }: Visit): Promise<Warning[]> =>
  organization.plan === 'team' ? readWarnings(em.fork()) : [];

export const warningSection = (warnings: readonly Warning[]): Html | false =>
  warnings.length > 0 &&
  html`<section class="notice warning" aria-labelledby="warnings">
    <h2 id="warnings">Needs attention</h2>
    <ul>
      ${warnings.map(
        ({ key, sentence }) =>
          html`<li>
            ${sentence} <a href="${keyPath(key)}">Look at the key<span class="unseen"> ${key.name}</span></a>
          </li>`,
      )}
    </ul>
  </section>`;

/** On the page of the key itself. */
export const warningsOfKey = (warnings: readonly Warning[]): Html[] =>
  warnings.map(({ sentence }) => html`<div class="notice warning"><p>${sentence}</p></div>`);
