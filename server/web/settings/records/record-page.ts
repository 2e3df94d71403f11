/** One record: every field, its id to copy, and the same record as the API returns it. */
import type { Proposal } from '../../../../contract/proposals.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import type { Page } from '../page.ts';
import { copyButton, foldable, notice } from '../sections.ts';
import { timeDay } from '../time.ts';
import type { Visit } from '../visit.ts';
import { linesSection } from './proposal-lines.ts';
import { labelOf } from '../../../../contract/openapi/label.ts';
import { recordPath } from './record-kinds.ts';
import type { RecordKind } from './record-kinds.ts';
import { sectionOf } from './records-page.ts';

export type OneRecord = { id: string; name?: string; number?: string; title?: string } & Readonly<
  Record<string, unknown>
>;
type View = {
  kind: RecordKind;
  record: OneRecord;
  done?: string | undefined;
  /** What an admin can do about an erased customer. */
  erased?: Html | false | undefined;
};

export function recordPage({ member, context }: Visit, { kind, record, done, erased }: View): Page {
  const title = record.name ?? [record.number, record.title].filter(Boolean).join(' · ');
  const isCustomer = kind.name === 'customers';
  const isErasable = isCustomer && member.role === 'admin' && !record.erasedAt;
  const main = html` <p class="back"><a href="${sectionOf(kind)}">← All ${kind.name}</a></p>
    <h1>${title}</h1>
    ${notice('done', done)}
    <div class="copyable">
      <code id="record-id" translate="no">${record.id}</code>
      ${copyButton('record-id', 'the id', 'secondary outline')}
    </div>
    ${
      isCustomer &&
      html`<p class="choices">
        <a href="/settings/proposals?customerId=${record.id}">Proposals of this customer</a>
        ${isErasable && html`<a class="danger" href="${recordPath('customers', record.id)}/erase">Erase personal data</a>`}
      </p>`
    }
    ${erased} ${kind.name === 'proposals' && linesSection(record as unknown as Proposal)}
    <section aria-labelledby="fields">
      <h2 id="fields">Fields</h2>
      <dl class="fields">${fieldsOf(record)}</dl>
    </section>
    ${foldable('json', 'As the API returns it', asJson(kind, record, context.baseUrl()))}`;
  return { title, main, current: sectionOf(kind) };
}

/** Nested objects are shown with their own fields; lines have a table of their own. */
const fieldsOf = (record: object): Html[] =>
  Object.entries(record)
    .filter(([name]) => name !== 'id' && name !== 'lineItems')
    .map(
      ([name, value]: [string, unknown]) =>
        html`<div>
          <dt>${labelOf(name)}</dt>
          <dd>${printValue(name, value)}</dd>
        </div>`,
    );

function printValue(name: string, value: unknown): Html | string {
  if (value === null || value === '') return html`<span class="quiet">not given</span>`;
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (Array.isArray(value)) return value.length === 0 ? html`<span class="quiet">none</span>` : value.join(', ');
  // The names in metadata are the callers' own.
  if (typeof value === 'object') return printObject(value, name === 'metadata' ? (inner) => inner : labelOf);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (name.endsWith('At')) return timeDay(text);
  const linked = { customerId: 'customers', itemId: 'items' } as const;
  if (name === 'customerId' || name === 'itemId') return html`<a href="${recordPath(linked[name], text)}">${text}</a>`;
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
  return html`<pre role="group" aria-label="curl" tabindex="0"><code translate="no">${curl}</code></pre>
    <pre
      role="group"
      aria-label="JSON"
      tabindex="0"
    ><code translate="no">${JSON.stringify(record, null, 2)}</code></pre>`;
}
