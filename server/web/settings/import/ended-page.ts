/** An import that came to its end: what it created and changed, with links to the records. */
import type { ScopedEntityManager } from '../../../database/tenant.ts';
import { Customer } from '../../../entities/customer.ts';
import { Item } from '../../../entities/item.ts';
import { Proposal } from '../../../entities/proposal.ts';
import type { Upload } from '../../../entities/upload.ts';
import { publicId } from '../../../records/public-id.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import type { Page } from '../page.ts';
import { recordTable } from '../record-table.ts';
import { card } from '../sections.ts';
import { count } from '../usage/usage-chart.ts';
import type { Visit } from '../visit.ts';
import { summarySection } from './import-progress.ts';

/** A record that still exists, and its name. */
type Named = { id: string; name: string };

/** More are on the page of all records. */
const most = 100;

export async function endedPage({ em }: Visit, upload: Upload, hasRejects: boolean): Promise<Page> {
  const { fileName, createdAt, summary, kind, records } = upload;
  const main = html` <h1>${fileName}</h1>
    <p class="lead">Imported on ${createdAt.slice(0, 10)}. <a href="/settings/imports">All imports</a></p>
    ${summary && card('result', 'Result', summarySection(upload, summary, hasRejects))}
    ${list('Created', await namesOf(em, kind, records.created), summary?.created ?? 0, kind)}
    ${list('Changed', await namesOf(em, kind, records.updated), summary?.updated ?? 0, kind)}`;
  return { title: fileName, main, current: '/settings/imports' };
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
    ${recordTable({ label: title, heads: ['Name', 'ID'], rows, empty: 'These records no longer exist.' })}
    ${all > records.length && html`<p class="quiet">The first ${count(records.length)} of ${count(all)}.</p>`}
  </section>`;
}

/** The first of these records, in this order, by the names that they have now. */
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
