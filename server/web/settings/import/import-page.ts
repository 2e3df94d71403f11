/** Import and export: the form for a file, how far its import is, and the downloads. */
import { isInterrupted, isWorking } from '../../../entities/upload.ts';
import type { Upload } from '../../../entities/upload.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import type { FieldInfo } from '../../../import/fields.ts';
import { needsTeam } from '../team-plan.ts';
import { recordTable } from '../record-table.ts';
import { count } from '../usage/usage-chart.ts';
import { exportFormatLabels, labelled, selectField, textField } from '../fields.ts';
import type { Rejected } from '../fields.ts';
import { postForm } from '../forms.ts';
import { checkedSection, endedSection, workingSection } from './import-progress.ts';
import { mappingSection } from './mapping-page.ts';
import type { MappingForm } from './mapping.ts';
import type { Page } from '../page.ts';
import { card, foldable } from '../sections.ts';
import type { Visit } from '../visit.ts';

export type ImportView = {
  upload?: Upload;
  hasRejects?: boolean;
  rejectedUpload?: Rejected | undefined;
  /** What the columns of the upload mean, where that can be chosen. */
  mapping?: MappingForm | undefined;
  /** Imports that came to their end. */
  ended?: Upload[];
  fields?: Record<'customers' | 'items', FieldInfo[]>;
  rejectedExport?: Rejected;
};

export function importPage(visit: Visit, view: ImportView): Page {
  const { upload } = view;
  const main = html` <h1>Import and export</h1>
    <p class="lead">
      Import customers, items and proposals from a file into ${visit.organization.name}, or export them to one.
    </p>
    ${sectionsFor(visit, view)}`;
  const isChanging = upload !== undefined && isWorking(upload);
  return { title: 'Import and export', main, current: '/settings/imports', isChanging };
}

function sectionsFor(visit: Visit, view: ImportView): Html {
  if (visit.member.role !== 'admin')
    return html`<p class="notice plain">Only admins of the organization can import and export.</p>`;
  if (visit.organization.plan !== 'team') return needsTeam('Your records are kept. Import and export need', visit);
  return html`${importSections(visit, view)} ${historySection(view.ended ?? [])}
  ${exportSection(visit, view.rejectedExport)}`;
}

function importSections(visit: Visit, view: ImportView): Html {
  const { upload, hasRejects = false, mapping } = view;
  if (!upload) return uploadForm(visit, view);
  if (mapping) return mappingSection(visit, upload, mapping);
  if (isWorking(upload)) return workingSection(visit, upload);
  if (upload.state === 'checked' || isInterrupted(upload)) return checkedSection(visit, upload, hasRejects);
  return html`${endedSection(upload, hasRejects)} ${uploadForm(visit, view)}`;
}

export const kindLabels = { customers: 'Customers', items: 'Items', proposals: 'Proposals' } as const;

function uploadForm(visit: Visit, { rejectedUpload, fields }: ImportView): Html {
  const kind = selectField({ id: 'kind', label: 'Record type', options: kindLabels, rejected: rejectedUpload });
  const content = html`${kind} ${fileField(rejectedUpload)}
    <p class="quiet">Nothing is imported yet. You will see a preview and the changes first.</p>
    <button type="submit">Upload and check</button>`;
  const attributes = html` enctype="multipart/form-data" class="stack" data-busy="Uploading…"`;
  return card(
    'import',
    'Import a file',
    html`${postForm(visit, '/settings/imports', content, attributes)}
    ${fields && foldable('fields', 'The fields', html`${fieldList('Customers', fields.customers)} ${fieldList('Items', fields.items)}`)}`,
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
  return card('history', 'Earlier imports', recordTable(table));
}

const fileHint = html`An Excel workbook (.xlsx, up to 20 MB), or CSV or JSON of up to 100 MB, also compressed with gzip.
  The columns may have any names. Empty files to fill in:
  <a href="/settings/import-templates/customers.csv">customers</a>,
  <a href="/settings/import-templates/items.csv">items</a>. <a href="/docs/import">How to prepare a file</a>`;

const fileField = (rejected: Rejected | undefined): Html =>
  labelled(
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
