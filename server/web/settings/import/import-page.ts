/** Import and export: the form for a file, how far its import is, and the downloads. */
import { isInterrupted, isWorking } from '../../../entities/upload.ts';
import type { Upload } from '../../../entities/upload.ts';
import { fieldOf } from '../../../problems/problem.ts';
import type { SettingsProblem } from '../../../problems/problem.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import type { FieldInfo } from '../../../import/fields.ts';
import { needsTeam } from '../team-plan.ts';
import { recordTable } from '../record-table.ts';
import { count } from '../usage/usage-chart.ts';
import { exportFormatLabels, hiddenToken, selectField, textField } from '../fields.ts';
import { checkedSection, endedSection, workingSection } from './import-progress.ts';
import { mappingSection } from './mapping-page.ts';
import type { MappingForm } from './mapping-page.ts';
import { foldable, notice } from '../page.ts';
import type { Page, Signed } from '../page.ts';

export type ImportView = {
  signed: Signed;
  csrfToken: () => string;
  upload?: Upload;
  hasRejects?: boolean;
  /** What was entered into the form, and what is wrong with it. */
  typed?: { kind: string; problem?: SettingsProblem };
  /** What the columns of the upload mean, where that can be chosen. */
  mapping?: MappingForm | undefined;
  /** Imports that came to their end. */
  ended?: Upload[];
  fields?: Record<'customers' | 'items', FieldInfo[]>;
  exporting?: { since: string; problem: string };
};

export function importPage(view: ImportView): Page {
  const { signed, upload } = view;
  const main = html` <h1>Import and export</h1>
    <p class="lead">
      Import customers, items and proposals from a file into ${signed.organization.name}, or export them to one.
    </p>
    ${sectionsFor(view)}`;
  const isChanging = upload !== undefined && isWorking(upload);
  return { title: 'Import and export', main, signed, current: '/settings/imports', isChanging };
}

function sectionsFor(view: ImportView): Html {
  const { member, organization } = view.signed;
  if (member.role !== 'admin')
    return html`<p class="notice plain">Only admins of the organization can import and export.</p>`;
  if (organization.plan !== 'team') return needsTeam('Your records are kept. Import and export need', view.signed);
  return html`${importSections(view)} ${historySection(view.ended ?? [])} ${exportSection(view)}`;
}

function importSections(view: ImportView): Html {
  const { upload, hasRejects = false, csrfToken, mapping } = view;
  if (!upload) return uploadForm(view);
  if (mapping) return mappingSection(upload, mapping, csrfToken);
  if (isWorking(upload)) return workingSection(upload, csrfToken);
  if (upload.state === 'checked' || isInterrupted(upload)) return checkedSection(upload, { hasRejects, csrfToken });
  return html`${endedSection(upload, hasRejects)} ${uploadForm(view)}`;
}

export const kindLabels = { customers: 'Customers', items: 'Items', proposals: 'Proposals' } as const;

function uploadForm({ csrfToken, typed, fields }: ImportView): Html {
  const problemOf = (name: string) =>
    typed?.problem && fieldOf(typed.problem) === name ? typed.problem.message : undefined;
  return html` <section class="card" aria-labelledby="import">
    <h2 id="import">Import a file</h2>
    <form method="post" action="/settings/imports" enctype="multipart/form-data" class="stack" data-busy="Uploading…">
      ${hiddenToken(csrfToken())}
      ${selectField({ id: 'kind', label: 'Record type', options: kindLabels, chosen: typed?.kind, problem: problemOf('kind') })}
      ${fileField(problemOf('file'))}
      <p class="quiet">Nothing is imported yet. You will see a preview and the changes first.</p>
      <button type="submit">Upload and check</button>
    </form>
    ${fields && foldable('fields', 'The fields', html`${fieldList('Customers', fields.customers)} ${fieldList('Items', fields.items)}`)}
  </section>`;
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
  return html` <section class="card" aria-labelledby="history">
    <h2 id="history">Earlier imports</h2>
    ${recordTable({ label: 'Earlier imports', heads: ['File', 'Date', 'Records', 'Result'], rows, empty: '' })}
  </section>`;
}

const fileField = (problem: string | undefined): Html =>
  html`<div class="field">
    <label for="file">File</label>
    <input
      id="file"
      name="file"
      type="file"
      accept=".csv,.tsv,.txt,.xlsx,.json,.jsonl,.ndjson,.gz"
      required
      aria-describedby="file-hint${problem !== undefined && ' file-problem'}"
      ${problem !== undefined && html`aria-invalid="true" autofocus`}
    />
    ${problem !== undefined && html`<p class="problem" id="file-problem" role="alert">${problem}</p>`}
    <small id="file-hint"
      >An Excel workbook (.xlsx, up to 20 MB), or CSV or JSON of up to 100 MB, also compressed with gzip. The columns
      may have any names. Empty files to fill in: <a href="/settings/import-templates/customers.csv">customers</a>,
      <a href="/settings/import-templates/items.csv">items</a>. <a href="/docs/import">How to prepare a file</a></small
    >
  </div>`;

const exportSection = ({ csrfToken, exporting }: ImportView): Html =>
  html` <section class="card" aria-labelledby="export">
    <h2 id="export">Export</h2>
    ${notice('failed', exporting && exporting.since === '' ? exporting.problem : undefined)}
    <form method="post" action="/settings/exports" class="stack" data-download>
      ${hiddenToken(csrfToken())}
      ${selectField({ id: 'export-kind', name: 'kind', label: 'Records', options: kindLabels })}
      ${selectField({ id: 'format', label: 'Format', options: exportFormatLabels })}
      ${textField({ id: 'since', label: 'Changed since', value: exporting?.since, most: 40, isOptional: true, hint: 'A date, such as 2026-03-01. Leave it empty to export everything.', problem: exporting?.problem })}
      <button type="submit">Download</button>
    </form>
  </section>`;
