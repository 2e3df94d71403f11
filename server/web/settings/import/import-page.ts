/** Import and export: the upload form, the progress and the result of an import, and the downloads. */
import type { ScopedEntityManager } from '../../../database/tenant.ts';
import { Customer } from '../../../entities/customer.ts';
import { Item } from '../../../entities/item.ts';
import { Proposal } from '../../../entities/proposal.ts';
import { isInterrupted, isWorking } from '../../../entities/upload.ts';
import type { Upload } from '../../../entities/upload.ts';
import type { FieldInfo } from '../../../import/fields.ts';
import { publicId } from '../../../records/public-id.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { exportFormatLabels, labeled, selectField, textField } from '../fields.ts';
import type { Rejected } from '../fields.ts';
import { failedNotice, postForm } from '../forms.ts';
import { innerPage, sectionPage } from '../page.ts';
import { card, collapsible, responsiveTable, teamNotice } from '../sections.ts';
import { count } from '../usage/usage-chart.ts';
import type { Visit } from '../visit.ts';
import { checkedSection, endedSection, summarySection, workingSection } from './import-progress.ts';

export type ImportView = {
  upload?: Upload;
  hasRejects?: boolean;
  rejected?: Rejected | undefined;
  /** The form for what the columns of the upload mean, if that can be chosen. */
  mapping?: Html | undefined;
  /** Earlier imports. */
  ended?: Upload[];
  fields?: Record<'customers' | 'items', FieldInfo[]>;
  rejectedExport?: Rejected;
};

export function importPage(visit: Visit, view: ImportView) {
  const { upload } = view;
  const lead = `Import customers, items and proposals from a file into ${visit.organization.name}, or export them to one.`;
  const isChanging = upload !== undefined && isWorking(upload);
  return sectionPage('/settings/imports', lead, sectionsFor(visit, view), { isChanging });
}

function sectionsFor(visit: Visit, view: ImportView): Html {
  if (visit.member.role !== 'admin')
    return html`<p class="notice plain">Only admins of the organization can import and export.</p>`;
  if (visit.organization.plan !== 'team') return teamNotice('Your records are kept. Import and export need', visit);
  return html`${failedNotice(view.rejected)} ${importSections(visit, view)} ${historySection(view.ended ?? [])}
  ${exportSection(visit, view.rejectedExport)}`;
}

function importSections(visit: Visit, view: ImportView): Html {
  const { upload, hasRejects = false, mapping } = view;
  if (!upload) return uploadForm(visit, view);
  if (mapping) return mapping;
  if (isWorking(upload)) return workingSection(visit, upload);
  if (upload.state === 'checked' || isInterrupted(upload)) return checkedSection(visit, upload, hasRejects);
  return html`${endedSection(upload, hasRejects)} ${uploadForm(visit, view)}`;
}

const kindLabels = { customers: 'Customers', items: 'Items', proposals: 'Proposals' } as const;

function uploadForm(visit: Visit, { rejected, fields }: ImportView): Html {
  const kind = selectField({ id: 'kind', label: 'Record type', options: kindLabels, rejected });
  const content = html`${kind} ${fileField(rejected)}
    <p class="quiet">Nothing is imported yet. You will see a preview and the changes first.</p>
    <button type="submit">Upload and check</button>`;
  const attributes = html` enctype="multipart/form-data" class="stack" data-busy="Uploading…"`;
  return card(
    'import',
    'Import a file',
    html`${postForm(visit, '/settings/imports', content, attributes)}
    ${fields && collapsible('fields', 'The fields', html`${fieldList('Customers', fields.customers)} ${fieldList('Items', fields.items)}`)}`,
  );
}

const fieldList = (title: string, fields: readonly FieldInfo[]): Html =>
  html`<h3>${title}</h3>
    <ul>
      ${fields.map(({ name, label, type, isRequired }) => html`<li>${label}: ${type}${isRequired && ', required'} <code translate="no">${name}</code></li>`)}
    </ul>`;

function historySection(ended: readonly Upload[]): Html | false {
  if (ended.length === 0) return false;
  const rows = ended.map(({ id, fileName, kind, createdAt, summary }) => ({
    head: html`<a href="/settings/imports/${id}">${fileName}</a>`,
    cells: [
      createdAt.slice(0, 10),
      kindLabels[kind],
      `${count(summary?.created ?? 0)} created, ${count(summary?.updated ?? 0)} changed`,
    ],
  }));
  const table = { label: 'Earlier imports', heads: ['File', 'Date', 'Records', 'Result'], rows, empty: '' };
  return card('history', 'Earlier imports', responsiveTable(table));
}

const fileHint = html`An Excel workbook (.xlsx, up to 20 MB), or CSV or JSON up to 100 MB, optionally compressed with
  gzip. The columns may have any names. Empty files to fill in:
  <a href="/settings/import-templates/customers.csv">customers</a>,
  <a href="/settings/import-templates/items.csv">items</a>. <a href="/docs/import">How to prepare a file</a>`;

const fileField = (rejected: Rejected | undefined): Html =>
  labeled(
    { id: 'file', label: 'File', hint: fileHint, rejected },
    (attributes) =>
      html`<input
        id="file"
        name="file"
        type="file"
        accept=".csv,.tsv,.txt,.xlsx,.json,.jsonl,.ndjson,.gz"
        required
        ${attributes}
      />`,
  );

function exportSection(visit: Visit, rejected: Rejected | undefined): Html {
  const content = html`${selectField({ id: 'export-kind', name: 'kind', label: 'Records', options: kindLabels, rejected })}
    ${selectField({ id: 'format', label: 'Format', options: exportFormatLabels, rejected })}
    ${textField({ id: 'since', label: 'Changed since', most: 40, isOptional: true, hint: 'A date, such as 2026-03-01. Leave it empty to export everything.', rejected })}
    <button type="submit">Download</button>`;
  return card('export', 'Export', postForm(visit, '/settings/exports', content, html` class="stack" data-download`));
}

/** A record that still exists, and its name. */
type Named = { id: string; name: string };

/** The page of all records has the rest. */
const most = 100;

export async function endedPage({ em }: Visit, upload: Upload, hasRejects: boolean) {
  const { fileName, createdAt, summary, kind, records } = upload;
  const main = html` <h1>${fileName}</h1>
    <p class="lead">Imported on ${createdAt.slice(0, 10)}. <a href="/settings/imports">All imports</a></p>
    ${summary && card('result', 'Result', summarySection(upload, summary, hasRejects))}
    ${list('Created', await namesOf(em, kind, records.created), summary?.created ?? 0, kind)}
    ${list('Changed', await namesOf(em, kind, records.updated), summary?.updated ?? 0, kind)}`;
  return innerPage('/settings/imports', fileName, main);
}

const idKinds = { customers: 'customer', items: 'item', proposals: 'proposal' } as const;

function list(title: string, records: readonly Named[], all: number, kind: Upload['kind']): Html | false {
  if (all === 0) return false;
  const rows = records.map(({ id, name }) => {
    const shown = publicId(idKinds[kind], id);
    return { head: html`<a href="/settings/${kind}/${shown}">${name}</a>`, cells: [html`<code>${shown}</code>`] };
  });
  return html` <section class="card" aria-label="${title}">
    <h2>${title}</h2>
    ${responsiveTable({ label: title, heads: ['Name', 'ID'], rows, empty: 'These records no longer exist.' })}
    ${all > records.length && html`<p class="quiet">The first ${count(records.length)} of ${count(all)}.</p>`}
  </section>`;
}

/** The first of these records, in the given order, with their current names. */
async function namesOf(em: ScopedEntityManager, kind: Upload['kind'], all: readonly string[]): Promise<Named[]> {
  const ids = all.slice(0, most);
  const found = await load(em, kind, ids);
  return ids.flatMap((id) => found.find((record) => record.id === id) ?? []);
}

async function load(em: ScopedEntityManager, kind: Upload['kind'], ids: readonly string[]): Promise<Named[]> {
  const where = { id: { $in: [...ids] } };
  if (kind === 'customers') return em.find(Customer, where);
  if (kind === 'items') return em.find(Item, where);
  const proposals = await em.find(Proposal, where);
  return proposals.map(({ id, number, title }) => ({ id, name: `${number} ${title}` }));
}
