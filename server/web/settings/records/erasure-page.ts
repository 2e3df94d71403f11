/** Erasing a customer's personal data, and letting its external ID be used again. */
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { postForm, questionPage } from '../forms.ts';
import type { Page } from '../page.ts';
import { card } from '../sections.ts';
import type { Visit } from '../visit.ts';
import { recordPath } from './record-kinds.ts';
import type { OneRecord } from './record-page.ts';

export function erasePage(visit: Visit, record: OneRecord, proposals: number): Page {
  const path = recordPath('customers', record.id);
  return questionPage(visit, {
    title: `Erase the personal data of ${record.name ?? record.id}?`,
    text: html`<p>
        <strong>This cannot be undone.</strong> Name, addresses, email, phone, notes, tags, metadata and external ID are
        erased from the customer, from ${proposals === 1 ? 'its proposal' : `its ${proposals} proposals`}, from search,
        from stored responses and from the audit log.
      </p>
      <p>
        The customer keeps its id and is archived. Its proposals keep their numbers, amounts, statuses and times.
        Backups, exported files and the systems that read the API keep their copies.
      </p>`,
    button: 'Erase personal data',
    isDestructive: true,
    action: `${path}/erase`,
    back: path,
    current: '/settings/customers',
  });
}

/** For an erased customer whose external ID is still rejected. */
export const releaseSection = (visit: Visit, { id }: OneRecord): Html =>
  card(
    'release',
    'External ID',
    html`<p>
        The external ID that this customer had is rejected, so that no sync or import brings the erased data back. If
        the person returns, let it be used again. This customer stays erased.
      </p>
      ${postForm(visit, `${recordPath('customers', id)}/release`, html`<button type="submit" class="secondary">Release the external ID</button>`)}`,
  );
