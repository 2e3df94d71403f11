/** Import and export: the form for a file, how far its import is, and the downloads. */
import { isInterrupted, isWorking } from '../../entities/upload.ts';
import type { Upload } from '../../entities/upload.ts';
import { fieldOf } from '../../problems/problem.ts';
import type { SettingsProblem } from '../../problems/problem.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { hiddenToken, selectField, textField } from './fields.ts';
import { checkedSection, endedSection, workingSection } from './import-progress.ts';
import { foldable, notice } from './page.ts';
import type { Page, Signed } from './page.ts';

export type ImportView = {
  signed: Signed;
  csrfToken: () => string;
  upload?: Upload;
  hasRejects?: boolean;
  /** What was entered into the form, and what is wrong with it. */
  typed?: { kind: string; columns: string; rest: string; problem?: SettingsProblem };
  exporting?: { since: string; problem: string };
};

export function importPage(view: ImportView): Page {
  const { signed, upload } = view;
  const isAdmin = signed.member.role === 'admin';
  const main = html` <h1>Import and export</h1>
    <p class="lead">
      Import customers, items and proposals from a file into ${signed.organization.name}, or export them to one.
    </p>
    ${isAdmin ? html`${importSections(view)} ${exportSection(view)}` : html`<p class="notice plain">Only admins of the organization can import and export.</p>`}`;
  const isChanging = upload !== undefined && isWorking(upload);
  return { title: 'Import and export', main, signed, current: '/settings/imports', isChanging };
}

function importSections(view: ImportView): Html {
  const { upload, hasRejects = false, csrfToken } = view;
  if (!upload) return uploadForm(view);
  if (isWorking(upload)) return workingSection(upload, csrfToken);
  if (upload.state === 'checked' || isInterrupted(upload)) return checkedSection(upload, { hasRejects, csrfToken });
  return html`${endedSection(upload, hasRejects)} ${uploadForm(view)}`;
}

export const kindLabels = { customers: 'Customers', items: 'Items', proposals: 'Proposals' } as const;

function uploadForm({ csrfToken, typed }: ImportView): Html {
  const problemOf = (name: string) =>
    typed?.problem && fieldOf(typed.problem) === name ? typed.problem.message : undefined;
  return html` <section class="card" aria-labelledby="import">
    <h2 id="import">Import a file</h2>
    <form method="post" action="/settings/imports" enctype="multipart/form-data" class="stack" data-busy="Uploading…">
      ${hiddenToken(csrfToken())}
      ${selectField({ id: 'kind', label: 'What it contains', options: kindLabels, chosen: typed?.kind, problem: problemOf('kind') })}
      ${columnsPart(typed, problemOf('columns'))} ${fileField(problemOf('file'))}
      <p class="quiet">Nothing is imported yet: you first see how the file is read, and what would change.</p>
      <button type="submit">Upload and check</button>
    </form>
  </section>`;
}

const columnsPart = (typed: ImportView['typed'], problem: string | undefined): Html =>
  foldable(
    'mapping',
    'Columns with other names',
    html`<div class="field">
        <label for="columns">What they mean</label>
        <textarea
          id="columns"
          name="columns"
          rows="3"
          spellcheck="false"
          autocapitalize="none"
          aria-describedby="columns-hint${problem !== undefined && ' columns-problem'}"
          ${problem !== undefined && html`aria-invalid="true" autofocus`}
        >
${typed?.columns}</textarea>
        ${problem !== undefined && html`<p class="problem" id="columns-problem" role="alert">${problem}</p>`}
        <small id="columns-hint"
          >One column a line, such as <code>Company name = companyName</code>. With nothing after the equals sign, the
          column is left out.</small
        >
      </div>
      <label
        ><input type="checkbox" name="rest" value="metadata" ${typed?.rest === 'metadata' && html` checked`} />Keep
        other columns in the record’s metadata</label
      >`,
    problem !== undefined || Boolean(typed?.columns),
  );

const fileField = (problem: string | undefined): Html =>
  html`<div class="field">
    <label for="file">File</label>
    <input
      id="file"
      name="file"
      type="file"
      accept=".csv,.tsv,.txt,.json,.jsonl,.ndjson,.gz"
      required
      aria-describedby="file-hint${problem !== undefined && ' file-problem'}"
      ${problem !== undefined && html`aria-invalid="true" autofocus`}
    />
    ${problem !== undefined && html`<p class="problem" id="file-problem" role="alert">${problem}</p>`}
    <small id="file-hint"
      >CSV, JSON Lines or a JSON array, at most 100 MB, also compressed with gzip. Exports from Stripe, HubSpot,
      QuickBooks, Xero, Shopify and WooCommerce are recognized. <a href="/docs/import">How to prepare a file</a></small
    >
  </div>`;

const formatLabels = { csv: 'CSV, for spreadsheets', jsonl: 'JSON Lines, with the lines of proposals' } as const;

const exportSection = ({ csrfToken, exporting }: ImportView): Html =>
  html` <section class="card" aria-labelledby="export">
    <h2 id="export">Export</h2>
    ${notice('failed', exporting && exporting.since === '' ? exporting.problem : undefined)}
    <form method="post" action="/settings/exports" class="stack" data-download>
      ${hiddenToken(csrfToken())}
      ${selectField({ id: 'export-kind', name: 'kind', label: 'Records', options: kindLabels })}
      ${selectField({ id: 'format', label: 'Format', options: formatLabels })}
      ${textField({ id: 'since', label: 'Changed since', value: exporting?.since, most: 40, isOptional: true, hint: 'A date, such as 2026-03-01. Leave it empty to export everything.', problem: exporting?.problem })}
      <button type="submit">Download</button>
    </form>
  </section>`;
