/** Search over the guides, section by section; the page needs no script. */
import MiniSearch from 'minisearch';
import { stemmer } from 'stemmer';
import { fold } from '../../entities/fold.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { guideUrl } from './guides.ts';
import type { Guide } from './guides.ts';
import { sectionsOf } from './markdown.ts';

type Entry = { id: number; guide: Guide; title: string; anchor: string; text: string };
export type Index = { entries: readonly Entry[]; engine: MiniSearch<Entry> };

const maximumResults = 20;
const maximumLength = 100;

/** `How do I rotate a key?` is about `rotate` and `key`. */
const fillers: ReadonlySet<string> = new Set(
  'a an and are by can did do does for from happen happens how i in is it my of on or the to what when where which why with'.split(
    ' ',
  ),
);

const wordsOf = (text: string): string[] => fold(text).match(/[\p{L}\p{N}_]+/gu) ?? [];

/** The overview mentions every page, and the reference every field; the page that explains it is the better result. */
function weightOf(slug: string): number {
  if (slug === '') return 0.5;
  return slug.startsWith('reference') ? 0.7 : 1;
}

/** `sources` are the pages in Markdown, with their generated parts. */
export function buildIndex(sources: Iterable<{ guide: Guide; source: string }>): Index {
  const entries = [...sources]
    .flatMap(({ guide, source }) => sectionsOf(source).map((section) => ({ ...section, guide })))
    .map(({ id: anchor, title, text, guide }, id) => ({ id, guide, title, anchor, text }));
  const engine = new MiniSearch<Entry>({
    fields: ['title', 'page', 'text'],
    extractField: (entry, field) => String(field === 'page' ? entry.guide.title : Reflect.get(entry, field)),
    tokenize: wordsOf,
    processTerm: (word) => !fillers.has(word) && stemmer(word),
    searchOptions: {
      combineWith: 'AND',
      boost: { title: 6, page: 2 },
      // Length matters less than by default: a long section explains more, rather than repeating itself.
      bm25: { k: 1.2, b: 0.4, d: 0.5 },
      prefix: (word) => word.length > 3,
      boostDocument: (id) => weightOf(entries[Number(id)]?.guide.slug ?? ''),
    },
  });
  engine.addAll(entries);
  return { entries, engine };
}

/** The sections that contain every word, or one that is spelled much like it if none contains the word itself. */
function find({ entries, engine }: Index, query: string): Entry[] {
  const exact = engine.search(query);
  const found = exact.length > 0 ? exact : engine.search(query, { fuzzy: (word) => word.length > 4 && 0.25 });
  return found.flatMap(({ id }) => entries[Number(id)] ?? []).slice(0, maximumResults);
}

/** The content of the page for a query. */
export function searchResults(index: Index, parameter: unknown, root: string): { query: string; content: Html } {
  const query = typeof parameter === 'string' ? parameter.trim().slice(0, maximumLength) : '';
  const words = wordsOf(query).filter((word) => !fillers.has(word));
  const found = find(index, query);
  const count =
    found.length === 1 ? '1 section' : `${found.length === maximumResults ? 'The first ' : ''}${found.length} sections`;
  const content = html`<h1>Search</h1>
    <p role="status">
      ${query === '' ? 'Type one or more words into the search field.' : `${found.length === 0 ? 'Nothing' : count} found for “${query}”.`}
    </p>
    ${found.length === 0 && query !== '' && html`<p>Try fewer or different words, or browse the menu. Every operation and field is in the <a href="${root}/docs/reference">reference</a>.</p>`}
    <ol class="results">
      ${found.map(
        ({ guide, title, anchor, text }) =>
          html`<li>
            <a href="${guideUrl(guide.slug, root)}${anchor === '' ? '' : `#${anchor}`}">${title}</a>
            <span class="in">${guide.title}</span>
            <p>${excerpt(text, words)}</p>
          </li>`,
      )}
    </ol>`;
  return { query, content };
}

/** The part of the text around the first matching word, as it was typed or in another form. */
function excerpt(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const places = words
    .flatMap((word) => [word, stemmer(word)].map((form) => lower.indexOf(form)))
    .filter((at) => at > 0);
  const start = Math.max(0, Math.min(...places) - 60);
  // Whole words only.
  const from = places.length === 0 || start === 0 ? 0 : text.indexOf(' ', start) + 1;
  const part = text.slice(from, from + 180).replace(text.length > from + 180 ? /\s\S*$/ : /(?<!\s)\s+$/, '');
  return `${from > 0 ? '… ' : ''}${part}${from + 180 < text.length ? ' …' : ''}`;
}
