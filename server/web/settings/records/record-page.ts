/** One record: every field, its id to copy, and the JSON that the API returns; a proposal also as its customer reads it. */
import type { LineItem } from '../../../../contract/line-items.ts';
import { labelOf } from '../../../../contract/openapi/label.ts';
import { eventTimes } from '../../../../contract/proposals.ts';
import type { Proposal } from '../../../../contract/proposals.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import type { Page } from '../page.ts';
import {
  badge,
  collapsible,
  copyable,
  counted,
  definitionList,
  notice,
  responsiveTable,
  section,
} from '../sections.ts';
import { timeDay } from '../time.ts';
import type { Visit } from '../visit.ts';
import { amount, recordLink, recordPath, statusBadge, titleOf } from './record-kinds.ts';
import type { OneRecord, RecordKind } from './record-kinds.ts';
import { sectionOf } from './records-page.ts';

type View = {
  kind: RecordKind;
  record: OneRecord;
  done?: string | undefined;
  /** What an admin can do about an erased customer. */
  erased?: Html | false | undefined;
};

export function recordPage({ member, context }: Visit, { kind, record, done, erased }: View): Page {
  const title = titleOf(record);
  const isCustomer = kind.name === 'customers';
  const isErasable = isCustomer && member.role === 'admin' && !record.erasedAt;
  const main = html` <p class="back"><a href="${sectionOf(kind)}">← All ${kind.name}</a></p>
    <h1>${title}</h1>
    ${notice('done', done)}
    ${copyable(html`<code id="record-id" translate="no">${record.id}</code>`, 'record-id', 'the id', 'secondary outline')}
    ${
      isCustomer &&
      html`<p class="choices">
        <a href="/settings/proposals?customerId=${record.id}">Proposals of this customer</a>
        ${isErasable && html`<a class="danger" href="${recordPath('customers', record.id)}/erase">Erase personal data</a>`}
      </p>`
    }
    ${erased} ${kind.name === 'proposals' && linesSection(record as unknown as Proposal)}
    ${section('fields', 'Fields', definitionList('fields', fieldsOf(record)))}
    ${collapsible('json', 'As the API returns it', asJson(kind, record, context.baseUrl))}`;
  return { title, main, current: sectionOf(kind) };
}

/** Nested objects are shown with their own fields; lines have their own table. */
const fieldsOf = (record: object) =>
  Object.entries(record)
    .filter(([name]) => name !== 'id' && name !== 'lineItems')
    .map(([name, value]: [string, unknown]) => [labelOf(name), printValue(name, value)] as const);

function printValue(name: string, value: unknown): Html | string {
  if (value === null || value === '') return html`<span class="quiet">not given</span>`;
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (Array.isArray(value)) return value.length === 0 ? html`<span class="quiet">none</span>` : value.join(', ');
  // The names in metadata are the callers' own, and are shown unchanged.
  if (typeof value === 'object') return printObject(value, name === 'metadata' ? (inner) => inner : labelOf);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (name.endsWith('At')) return timeDay(text);
  if (name === 'customerId') return recordLink('customers', text, text);
  return html`<span class="text">${text}</span>`;
}

function printObject(value: object, label: (name: string) => string): Html {
  const given = Object.entries(value).filter(([, inner]) => inner !== null);
  if (given.length === 0) return html`<span class="quiet">none</span>`;
  return html`<ul>
    ${given.map(([name, inner]: [string, unknown]) => html`<li><small>${label(name)}</small> ${String(inner)}</li>`)}
  </ul>`;
}

function asJson(kind: RecordKind, record: OneRecord, baseUrl: string): Html {
  const curl = `curl -H "Authorization: Bearer YOUR_API_KEY" \\\n  "${baseUrl}/v1/${kind.name}/${record.id}"`;
  return html`${code('curl', curl)} ${code('JSON', JSON.stringify(record, null, 2))}`;
}

const code = (label: string, text: string): Html =>
  html`<pre role="group" aria-label="${label}" tabindex="0"><code translate="no">${text}</code></pre>`;

function linesSection(proposal: Proposal): Html {
  const { lineItems, currency, customer, customerId, status, title } = proposal;
  const times = eventTimes.flatMap((name) => {
    const at = proposal[name];
    return at === null ? [] : [html`<li>${labelOf(name.replace(/At$/, ''))} ${timeDay(at)}</li>`];
  });
  return html`<section aria-labelledby="lines">
    <p>
      ${statusBadge(status)}
      ${customerId !== null && html`for ${recordLink('customers', customerId, customer?.name ?? customerId)}`}
    </p>
    ${
      times.length > 0 &&
      html`<ol class="times">
        ${times}
      </ol>`
    }
    <h2 id="lines">${counted('Lines', lineItems.length)}</h2>
    ${responsiveTable({
      label: `Lines of ${title}`,
      rows: lineItems,
      columns: {
        Name: lineName,
        Quantity: ({ quantity, unit }) => (unit === null ? quantity : `${quantity} ${unit}`),
        'Unit price': ({ unitPrice }) => unitPrice,
        Discount: ({ discountAmount }) => discountAmount,
        Tax: ({ taxAmount }) => taxAmount,
        Total: ({ total }) => amount(total, currency),
      },
      empty: 'This proposal has no lines.',
      isNumeric: true,
    })}
    ${totals(proposal)}
  </section>`;
}

const lineName = ({ name, description, itemId, optional, selected }: LineItem): Html =>
  html`${itemId === null ? name : recordLink('items', itemId, name)}
  ${optional && html` ${badge('off', selected ? 'Optional, chosen' : 'Optional, not chosen')}`}
  ${description !== null && html`<small>${description}</small>`}`;

const totals = ({ subtotal, discountTotal, taxTotal, total, currency }: Proposal): Html =>
  definitionList('totals', [
    ['Subtotal', amount(subtotal, currency)],
    ['Discount', amount(discountTotal, currency)],
    ['Tax', amount(taxTotal, currency)],
    ['Total', amount(total, currency)],
  ]);
