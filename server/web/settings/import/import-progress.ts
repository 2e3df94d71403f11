/** How the page shows an upload: in progress, checked, interrupted, or ended. */
import { labelOf } from '../../../../contract/openapi/label.ts';
import { isInterrupted, isOpen } from '../../../entities/upload.ts';
import type { Upload, UploadRow, UploadSummary } from '../../../entities/upload.ts';
import type { Inspection } from '../../../import/inspect.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { hidden } from '../fields.ts';
import { buttonForm, postForm } from '../forms.ts';
import { card, definitionList, notice } from '../sections.ts';
import { count } from '../usage/usage-chart.ts';
import type { Visit } from '../visit.ts';

const pathOf = ({ id }: Upload) => `/settings/imports/${id}`;
const rows = (number: number) => `${count(number)} ${number === 1 ? 'row' : 'rows'}`;
const working: Partial<Record<Upload['state'], [title: string, note: string]>> = {
  uploading: ['Uploading', 'Keep this page open until the upload finishes.'],
  checking: ['Checking', 'You can close this page; the check continues.'],
  importing: [
    'Importing',
    'You can close this page; the import continues. If you cancel it, the rows that it has imported are kept.',
  ],
};

/** The script refreshes the part with `data-live` until the page no longer has one in this state. */
export function workingSection(visit: Visit, upload: Upload): Html {
  const { state, fileName, bytesRead, bytesTotal, rowsRead } = upload;
  const [title, note] = working[state] ?? [];
  const percent = bytesTotal === 0 ? 0 : Math.floor((bytesRead / bytesTotal) * 100);
  const content = html`<div data-live="${state}">
      <progress value="${percent}" max="100" aria-label="${title}"></progress>
      <p>${percent}%${state !== 'uploading' && `, ${rows(rowsRead)}`}</p>
    </div>
    <p class="quiet">${note}</p>
    ${buttonForm(visit, `${pathOf(upload)}/discard`, 'Cancel')}`;
  return card('import', html`${title} ${fileName}`, content);
}

export function checkedSection(visit: Visit, upload: Upload, hasRejects: boolean): Html {
  const { fileName, kind, summary, failure, mapping } = upload;
  // In the order of the file: the database does not keep that of the mapping.
  const { columns = [] } = (upload.inspection ?? {}) as Partial<Inspection>;
  const left = columns.flatMap(({ name }) => (mapping.map?.[name] === '' ? [name] : []));
  const wasInterrupted = isInterrupted(upload);
  const changes = (summary?.created ?? 0) + (summary?.updated ?? 0);
  const start = html`<button type="submit">${wasInterrupted ? 'Start again' : `Import ${rows(changes)}`}</button>`;
  const content = html`${notice('failed', failure ?? undefined)}
    ${wasInterrupted ? html`<p>It stopped after at least ${rows(upload.rowsRead)}. Rows already imported are kept. Start again; they will not be imported twice.</p>` : html`<p>${failure === null && 'Nothing has been imported yet.'} This is what the import would do with the ${kind} in the file:</p>`}
    ${summary && figures(summary, ['new', 'changed'])} ${summary && notesAndErrors(upload, summary, hasRejects)}
    ${left.length > 0 && html`<p>Columns not imported: ${left.join(', ')}.</p>`} ${previewTable(upload.rows)}
    ${changes === 0 && !wasInterrupted && html`<p>${summary?.read === 0 ? 'The file has no rows.' : 'The import would change nothing.'}</p>`}
    <div class="choices">
      ${(changes > 0 || wasInterrupted) && postForm(visit, `${pathOf(upload)}/start`, html`${checkedAt(upload)} ${start}`)}
      ${isOpen(upload) && html`<a role="button" class="secondary outline" href="${pathOf(upload)}/columns">Change what the columns mean</a>`}
      ${discardForm(visit, upload)}
    </div>`;
  return card('import', wasInterrupted ? `The import of ${fileName} was interrupted` : `Import ${fileName}?`, content);
}

/** Another tab, or another admin, may have checked the file again or started its import since. */
const checkedAt = ({ activeAt }: Upload): Html => hidden('checkedAt', activeAt);

export function discardForm(visit: Visit, upload: Upload): Html {
  const button = html`<button type="submit" class="secondary outline">Discard the file</button>`;
  return postForm(visit, `${pathOf(upload)}/discard`, html`${checkedAt(upload)} ${button}`);
}

/** The outcome of the latest upload. */
export function endedSection(upload: Upload, hasRejects: boolean): Html {
  const { state, fileName, summary, failure, erasedAt } = upload;
  if (state === 'imported' && summary)
    return card(
      'ended',
      `${fileName} was imported`,
      html`${summarySection(upload, summary, hasRejects)}
        <p><a href="${pathOf(upload)}">The records that it created and changed</a></p>`,
    );
  const stopped = erasedAt
    ? 'was discarded, because it may contain the customer whose personal data was erased. Upload it again without the customer.'
    : 'had not been checked when the server was stopped. Nothing was imported. Upload it again.';
  const reason = failure ?? `${fileName} ${stopped}`;
  return html`${notice('failed', isOpen(upload) ? html`${reason} <a href="${pathOf(upload)}/columns">Change what the columns mean</a>` : reason)}`;
}

/** What an import did. */
export const summarySection = (upload: Upload, summary: UploadSummary, hasRejects: boolean): Html =>
  html`${figures(summary, ['created', 'updated'])} ${notesAndErrors(upload, summary, hasRejects)}`;

/** How many rows were, or would be, created, updated, left unchanged and rejected. */
const figures = ({ created, updated, unchanged, rejected }: UploadSummary, [first, second]: [string, string]): Html =>
  definitionList('figures', [
    [first, count(created)],
    [second, count(updated)],
    ['unchanged', count(unchanged)],
    ['rejected', count(rejected)],
  ]);

function notesAndErrors(upload: Upload, { notes, errors, rejected }: UploadSummary, hasRejects: boolean): Html {
  const list = (lines: (Html | string)[]) =>
    lines.length > 0 &&
    html`<ul>
      ${lines.map((line) => html`<li>${line}</li>`)}
    </ul>`;
  const problems = errors.map(
    ({ line, field, message }) => html`Line ${line}: ${field !== '' && html`<code>${field}</code>`} ${message}`,
  );
  // A row can have several errors, so their number says nothing about the rows.
  const shownRows = new Set(errors.map(({ line }) => line)).size;
  return html`${list(notes)}
  ${
    rejected > 0 &&
    html`<h3>Rejected rows</h3>
      ${list(problems)}
      <p class="quiet">
        ${rejected > shownRows && 'Showing the first ones.'}
        ${hasRejects && html`<a href="${pathOf(upload)}/rejected">Download the rejected rows with the reasons</a>, correct them, and import that file.`}
      </p>`
  }`;
}

/** The first rows of a file, as the import reads them; a wide table has its own scroll bar. */
function previewTable(first: readonly UploadRow[]): Html | false {
  if (first.length === 0) return false;
  const fields = [...new Set(first.flatMap(({ values }) => values.map(([field]) => field)))];
  return html`<h3 id="preview">Preview of the first rows</h3>
    <div class="scroll" role="region" aria-labelledby="preview" tabindex="0">
      <table class="preview">
        <thead>
          <tr>
            <th scope="col">Line</th>
            ${fields.map((field) => html`<th scope="col">${field.startsWith('metadata.') ? field : labelOf(field)}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${first.map((row) => printRow(row, fields))}
        </tbody>
      </table>
    </div>`;
}

function printRow({ line, values, errors }: UploadRow, fields: readonly string[]): Html {
  const texts = new Map(values);
  const cells =
    errors.length > 0
      ? html`<td colspan="${Math.max(1, fields.length)}" class="problem">${errors.join('; ')}</td>`
      : fields.map((field) => html`<td>${texts.get(field)}</td>`);
  return html`<tr>
    <th scope="row">${line}</th>
    ${cells}
  </tr>`;
}
