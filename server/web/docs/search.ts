/** Search over the guides, section by section; the page needs no script. */
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import type { Guide } from './guides.ts';
import { guideUrl } from './layout.ts';
import { sectionsOf } from './markdown.ts';

type Entry = { guide: Guide; title: string; id: string; text: string; folded: string };
export type Index = readonly Entry[];

const maximumResults = 20;
const maximumLength = 100;
const fold = (text: string) => text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();

/** `sources` are the guides in Markdown, with their generated parts. */
export function buildIndex(sources: Iterable<{ guide: Guide; source: string }>): Index {
  return [...sources].flatMap(({ guide, source }) =>
    sectionsOf(source).map(({ id, title, text }) => ({ guide, title, id, text, folded: fold(`${title} ${text}`) })),
  );
}

/** The sections that contain every word: those with the words in their title first. */
function find(index: Index, query: string): Entry[] {
  const words = fold(query)
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0) return [];
  const inTitle = ({ title }: Entry) => words.filter((word) => fold(title).includes(word)).length;
  return index
    .filter(({ folded }) => words.every((word) => folded.includes(word)))
    .toSorted((left, right) => inTitle(right) - inTitle(left))
    .slice(0, maximumResults);
}

/** The content of the page for a query. */
export function searchResults(index: Index, parameter: unknown, root: string): { query: string; content: Html } {
  const query = typeof parameter === 'string' ? parameter.trim().slice(0, maximumLength) : '';
  const found = find(index, query);
  const count =
    found.length === 1 ? '1 section' : `${found.length === maximumResults ? 'The first ' : ''}${found.length} sections`;
  const content = html`<h1>Search</h1>
    <p role="status">
      ${query === '' ? 'Type one or more words into the search field.' : `${found.length === 0 ? 'Nothing' : count} found for “${query}”.`}
    </p>
    <ol class="results">
      ${found.map(
        ({ guide, title, id, text }) =>
          html`<li>
            <a href="${guideUrl(guide.slug, root)}${id === '' ? '' : `#${id}`}">${title}</a>
            <span class="in">${guide.title}</span>
            <p>${excerpt(text, query)}</p>
          </li>`,
      )}
    </ol>`;
  return { query, content };
}

/** The part of the text around the first matching word. */
function excerpt(text: string, query: string): string {
  const folded = text.toLowerCase();
  const places = query
    .toLowerCase()
    .split(/\s+/)
    .map((word) => folded.indexOf(word))
    .filter((place) => place > 0);
  const start = Math.max(0, Math.min(...places) - 60);
  // Whole words only.
  const from = places.length === 0 || start === 0 ? 0 : text.indexOf(' ', start) + 1;
  const part = text.slice(from, from + 180).replace(text.length > from + 180 ? /\s\S*$/ : /(?<!\s)\s+$/, '');
  return `${from > 0 ? '… ' : ''}${part}${from + 180 < text.length ? ' …' : ''}`;
}
