/** An import that came to its end: what it created and changed, with links to the records. */
import type { Upload } from '../../../entities/upload.ts';
import { publicId } from '../../../records/public-id.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import type { Page } from '../page.ts';
import { recordTable } from '../record-table.ts';
import { card } from '../sections.ts';
import { count } from '../usage/usage-chart.ts';
import { summarySection } from './import-progress.ts';

/** A record that still exists, and its name. */
export type Named = { id: string; name: string };

type Ended = { upload: Upload; hasRejects: boolean; created: Named[]; updated: Named[] };

export function endedPage({ upload, hasRejects, created, updated }: Ended): Page {
  const { fileName, createdAt, summary } = upload;
  const main = html` <h1>${fileName}</h1>
    <p class="lead">Imported on ${createdAt.slice(0, 10)}. <a href="/settings/imports">All imports</a></p>
    ${summary && card('result', 'Result', summarySection(upload, summary, hasRejects))}
    ${list('Created', created, summary?.created ?? 0, upload)}
    ${list('Changed', updated, summary?.updated ?? 0, upload)}`;
  return { title: fileName, main, current: '/settings/imports' };
}

const idKinds = { customers: 'customer', items: 'item', proposals: 'proposal' } as const;

function list(title: string, records: readonly Named[], all: number, { kind }: Upload): Html | false {
  if (all === 0) return false;
  const rows = records.map(({ id, name }) => {
    const shown = publicId(idKinds[kind], id);
    return { head: html`<a href="/settings/${kind}/${shown}">${name}</a>`, cells: [html`<code>${shown}</code>`] };
  });
  return html` <section class="card" aria-label="${title}">
    <h2>${title}</h2>
    ${recordTable({ label: title, heads: ['Name', 'ID'], rows, empty: 'These records no longer exist.' })}
    ${all > records.length && html`<p class="quiet">The first ${count(records.length)} of ${count(all)}.</p>`}
  </section>`;
}
