/** Import and export: the upload form, the progress and the result of an import, and the downloads. */
import { importKinds, isInterrupted, isWorking } from '../../../entities/upload.ts';
import type { ImportKind, Upload } from '../../../entities/upload.ts';
import type { FieldInfo } from '../../../import/fields.ts';
import { publicId } from '../../../records/public-id.ts';
import { uploadBounds } from '../../../uploads/files.ts';
import { tooLarge } from '../../../uploads/runner.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { exportFormatLabels, labeled, selectField, textField } from '../fields.ts';
import type { Rejected } from '../fields.ts';
import { failedNotice, postForm } from '../forms.ts';
import { sectionPage } from '../page.ts';
import type { Page } from '../page.ts';
import { readList, recordKinds, recordLink, titleOf } from '../records/record-kinds.ts';
import type { OneRecord } from '../records/record-kinds.ts';
import { card, collapsible, notice, onlyAdmins, responsiveTable, teamNotice } from '../sections.ts';
import { timeDay } from '../time.ts';
import { count } from '../usage/usage-chart.ts';
import type { Visit } from '../visit.ts';
import { checkedSection, endedSection, summarySection, workingSection } from './import-progress.ts';

type Table = { name: ImportKind; fields: FieldInfo[] };
export type ImportView = {
  upload?: Upload;
  hasRejects?: boolean;
  /** What was done. */
  done?: string | undefined;
  rejected?: Rejected | undefined;
  /** The form for what the columns of the upload mean, if that can be chosen. */
  mapping?: Html | undefined;
  /** Earlier imports. */
  ended: Upload[];
  tables: Table[];
  rejectedExport?: Rejected;
};

export function importPage(visit: Visit, view: ImportView) {
  const { upload } = view;
  const lead = `Import customers, items and proposals from a file into ${visit.organization.name}, or export them to one.`;
  const isChanging = upload !== undefined && isWorking(upload);
  return sectionPage('/settings/imports', lead, sectionsFor(visit, view), { isChanging });
}

function sectionsFor(visit: Visit, view: ImportView): Html {
  if (visit.member.role !== 'admin') return onlyAdmins('import and export');
  if (visit.organization.plan !== 'team') return teamNotice('Your records are kept. Import and export need', visit);
  return html`${notice('done', view.done)}${failedNotice(view.rejected)} ${importSections(visit, view)}
  ${historySection(view.ended)} ${exportSection(visit, view.rejectedExport)}`;
}

function importSections(visit: Visit, view: ImportView): Html {
  const { upload, hasRejects = false, mapping } = view;
  if (!upload) return uploadForm(visit, view);
  if (mapping) return mapping;
  if (isWorking(upload)) return workingSection(visit, upload);
  if (upload.state === 'checked' || isInterrupted(upload)) return checkedSection(visit, upload, hasRejects);
  const isShown = view.rejected?.problem.message === upload.failure;
  return html`${!isShown && endedSection(upload, hasRejects)} ${uploadForm(visit, view)}`;
}

const kindLabels = Object.fromEntries(importKinds.map((kind) => [kind, recordKinds[kind].label]));

function uploadForm(visit: Visit, { rejected, tables }: ImportView): Html {
  const kind = selectField({ id: 'kind', label: 'Record type', options: kindLabels, rejected });
  const content = html`${kind} ${fileField(rejected, tables)}
    <p class="quiet">Nothing is imported yet. You will see a preview and the changes first.</p>
    <button type="submit">Upload and check</button>`;
  const attributes = html` enctype="multipart/form-data" class="stack" data-busy="Uploading…"`;
  return card(
    'import',
    'Import a file',
    html`${postForm(visit, '/settings/imports', content, attributes)}
    ${collapsible('fields', 'The fields', html`${tables.map(fieldList)}`)}`,
  );
}

const fieldList = ({ name: kind, fields }: Table): Html =>
  html`<h3>${recordKinds[kind].label}</h3>
    <ul>
      ${fields.map(({ name, label, type, isRequired }) => html`<li>${label}: ${type}${isRequired && ', required'} <code translate="no">${name}</code></li>`)}
    </ul>`;

function historySection(ended: readonly Upload[]): Html | false {
  if (ended.length === 0) return false;
  const columns = {
    File: ({ id, fileName }: Upload) => html`<a href="/settings/imports/${id}">${fileName}</a>`,
    Date: ({ createdAt }: Upload) => timeDay(createdAt),
    Records: ({ kind }: Upload) => recordKinds[kind].label,
    Result: ({ summary }: Upload) => `${count(summary?.created ?? 0)} created, ${count(summary?.updated ?? 0)} changed`,
  };
  const table = { label: 'Earlier imports', rows: ended, columns, empty: '' };
  return card('history', 'Earlier imports', responsiveTable(table));
}

const fileHint = (tables: Table[]) =>
  html`An Excel workbook (.xlsx, up to 20 MB), or CSV or JSON up to 100 MB, optionally compressed with gzip. The columns
    may have any names. Empty files to fill in:
    ${tables.map(({ name }, index) => html`${index > 0 && ', '}<a href="/settings/import-templates/${name}.csv">${name}</a>`)}.
    <a href="/docs/import">How to prepare a file</a>`;

const fileField = (rejected: Rejected | undefined, tables: Table[]): Html =>
  labeled(
    { id: 'file', label: 'File', hint: fileHint(tables), rejected },
    (attributes) =>
      html`<input
        id="file"
        name="file"
        type="file"
        accept=".csv,.tsv,.txt,.xlsx,.json,.jsonl,.ndjson,.gz"
        required
        data-bytes="${uploadBounds.bytes}"
        data-too-large="${tooLarge}"
        ${attributes}
      />`,
  );

function exportSection(visit: Visit, rejected: Rejected | undefined): Html {
  const content = html`${selectField({ id: 'export-kind', name: 'kind', label: 'Records', options: kindLabels, rejected })}
    ${selectField({ id: 'format', label: 'Format', options: exportFormatLabels, rejected })}
    ${textField({ id: 'since', label: 'Changed since', most: 40, isOptional: true, hint: 'A date, such as 2026-03-01, which starts at 00:00 UTC. Leave it empty to export everything.', rejected })}
    <button type="submit">Download</button>`;
  return card('export', 'Export', postForm(visit, '/settings/exports', content, html` class="stack" data-download`));
}

/** The page of all records has the rest. */
const most = 100;

export async function endedPage(visit: Visit, upload: Upload, hasRejects: boolean): Promise<Page> {
  const { fileName, createdAt, summary } = upload;
  const main = html` <h1>${fileName}</h1>
    <p class="lead">Imported on ${timeDay(createdAt)}. <a href="/settings/imports">All imports</a></p>
    ${summary && card('result', 'Result', summarySection(upload, summary, hasRejects))}
    ${await recordList(visit, upload, 'created')} ${await recordList(visit, upload, 'updated')}`;
  return { title: fileName, main, current: '/settings/imports' };
}

/** The first of the records that the import created or changed, in the order of the file, with their current names. */
async function recordList(
  visit: Visit,
  { kind, summary, records }: Upload,
  change: 'created' | 'updated',
): Promise<Html | false> {
  const { one, name } = recordKinds[kind];
  const ids = records[change].slice(0, most).map((id) => publicId(one, id));
  if (ids.length === 0) return false;
  const all = summary?.[change] ?? 0;
  const { data } = await readList(visit, { kind: recordKinds[kind], query: { ids, limit: String(most) } });
  const rows = ids.flatMap((id) => data.find((record) => record.id === id) ?? []);
  const columns = {
    Name: (record: OneRecord) => recordLink(name, record.id, titleOf(record)),
    ID: ({ id }: OneRecord) => html`<code>${id}</code>`,
  };
  const title = change === 'created' ? 'Created' : 'Changed';
  const content = html`${responsiveTable({ label: title, rows, columns, empty: 'These records no longer exist.' })}
  ${all > rows.length && html`<p class="quiet">The first ${count(rows.length)} of ${count(all)}.</p>`}`;
  return card(change, title, content);
}
