/** Erasing a customer's personal data, and letting its external ID be used again. */
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import type { Page, Signed } from '../page.ts';
import { recordPath } from './record-kinds.ts';
import type { OneRecord } from './record-page.ts';

type ErasePageView = { signed: Signed; record: OneRecord; proposals: number; token: Html };

export function erasePage({ signed, record, proposals, token }: ErasePageView): Page {
  const title = `Erase the personal data of ${record.name ?? record.id}?`;
  const path = recordPath('customers', record.id);
  const main = html`<article class="card">
    <h1>${title}</h1>
    <p>
      <strong>This cannot be undone.</strong> Name, addresses, email, phone, notes, tags, metadata and external ID are
      erased from the customer, from ${proposals === 1 ? 'its proposal' : `its ${proposals} proposals`}, from search,
      from stored responses and from the audit log.
    </p>
    <p>
      The customer keeps its id and is archived. Its proposals keep their numbers, amounts, statuses and times. Backups,
      exported files and the systems that read the API keep their copies.
    </p>
    <form method="post" action="${path}/erase">
      ${token}
      <div class="choices">
        <button class="destroy" type="submit">Erase personal data</button>
        <a href="${path}" role="button" class="secondary outline">Cancel</a>
      </div>
    </form>
  </article>`;
  return { title, main, signed, current: '/settings/customers' };
}

/** For an erased customer whose external ID is still rejected. */
export const releaseSection = ({ id }: OneRecord, token: Html): Html =>
  html`<section class="card" aria-labelledby="release">
    <h2 id="release">External ID</h2>
    <p>
      The external ID that this customer had is rejected, so that no sync or import brings the erased data back. If the
      person returns, let it be used again. This customer stays erased.
    </p>
    <form method="post" action="${recordPath('customers', id)}/release">
      ${token}
      <button type="submit" class="secondary">Release the external ID</button>
    </form>
  </section>`;
