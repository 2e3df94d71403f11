/** A proposal as its customer reads it: lines, totals, and when its status changed. */
import { eventTimes } from '../../../../contract/proposals.ts';
import type { LineItem } from '../../../../contract/line-items.ts';
import type { Proposal } from '../../../../contract/proposals.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { recordTable } from '../record-table.ts';
import { timeDay } from '../time.ts';
import { labelOf } from '../../../../contract/openapi/label.ts';
import { amount, badge, recordPath } from './record-kinds.ts';

export function linesSection(proposal: Proposal): Html {
  const { lineItems, currency, customer, customerId, status, title } = proposal;
  const times = eventTimes.flatMap((name) => {
    const at = proposal[name];
    return at === null ? [] : [html`<li>${labelOf(name.replace(/At$/, ''))} ${timeDay(at)}</li>`];
  });
  return html`<section aria-labelledby="lines">
    <p>
      ${badge(status)}
      ${customerId !== null && html`for <a href="${recordPath('customers', customerId)}">${customer?.name ?? customerId}</a>`}
    </p>
    ${
      times.length > 0 &&
      html`<ol class="times">
        ${times}
      </ol>`
    }
    <h2 id="lines">Lines <span class="count">${lineItems.length}</span></h2>
    ${recordTable({
      label: `Lines of ${title}`,
      heads: ['Name', 'Quantity', 'Unit price', 'Discount', 'Tax', 'Total'],
      rows: lineItems.map((line) => row(line, currency)),
      empty: 'This proposal has no lines.',
      isNumeric: true,
    })}
    ${totals(proposal)}
  </section>`;
}

function row(line: LineItem, currency: string) {
  const { name, description, itemId, optional, selected, quantity, unit, unitPrice, discountAmount, taxAmount, total } =
    line;
  const head = html`${itemId === null ? name : html`<a href="${recordPath('items', itemId)}">${name}</a>`}
  ${optional && html` <span class="badge off">${selected ? 'Optional, chosen' : 'Optional, not chosen'}</span>`}
  ${description !== null && html`<small>${description}</small>`}`;
  const cells = [unit === null ? quantity : `${quantity} ${unit}`, unitPrice, discountAmount, taxAmount];
  return { head, cells: [...cells, amount(total, currency)] };
}

const totals = ({ subtotal, discountTotal, taxTotal, total, currency }: Proposal): Html =>
  html`<dl class="totals">
    ${Object.entries({ Subtotal: subtotal, Discount: discountTotal, Tax: taxTotal, Total: total }).map(
      ([label, value]) =>
        html`<div>
          <dt>${label}</dt>
          <dd>${amount(value, currency)}</dd>
        </div>`,
    )}
  </dl>`;
