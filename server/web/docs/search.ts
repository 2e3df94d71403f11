/** Search over the guides, section by section; the page needs no script. */
import { fold } from '../../entities/fold.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import { guideUrl } from './guides.ts';
import type { Guide } from './guides.ts';
import { sectionsOf } from './markdown.ts';

type Entry = { guide: Guide; title: string; id: string; text: string; folded: string; words: ReadonlySet<string> };
export type Index = readonly Entry[];

const maximumResults = 20;
const maximumLength = 100;

/** `sources` are the pages in Markdown, with their generated parts. */
export function buildIndex(sources: Iterable<{ guide: Guide; source: string }>): Index {
  return [...sources].flatMap(({ guide, source }) =>
    sectionsOf(source).map(({ id, title, text }) => {
      const folded = fold(`${title} ${text}`);
      return { guide, title, id, text, folded, words: wordsOf(folded) };
    }),
  );
}

/** `webhooks` and `webhook`, `retry` and `retries`, `round` and `rounding` are the same word. */
const stem = (word: string) =>
  word.length > 3 ? word.replace(/(?<=.{3})(?:ing|ed|es|s)$/, '').replace(/(?<=.{3})(?:ie|e|y|i)$/, '') : word;
const wordsOf = (text: string) => new Set((text.match(/[\p{L}\p{N}_]+/gu) ?? []).map(stem));
/** Words this short occur inside many longer ones: `go`, `sso`. */
const isShort = (word: string) => /^[\p{L}\p{N}]{1,3}$/u.test(word);

const fillers: ReadonlySet<string> = new Set(
  'a an and are can did do does for from happen happens how i in is it my of on or the to what when where which why with'.split(
    ' ',
  ),
);

/** The words that tell what is searched for: `how do I rotate a key?` is about `rotate` and `key`. */
function topicOf(query: string): string[] {
  const words = fold(query).match(/[^\s?!"“”,;]+/g) ?? [];
  const telling = words.filter((word) => !fillers.has(word));
  return telling.length > 0 ? telling : words;
}

/** The sections that contain every word. Matches in titles come first, and whole words before parts of words. */
function find(index: Index, typed: readonly string[]): Entry[] {
  if (typed.length === 0) return [];
  return index
    .filter(({ folded, words }) =>
      typed.every((word) => words.has(stem(word)) || (!isShort(word) && folded.includes(word))),
    )
    .map((entry) => ({ entry, score: scoreOf(entry, typed) }))
    .toSorted((left, right) => right.score - left.score)
    .slice(0, maximumResults)
    .map(({ entry }) => entry);
}

function scoreOf({ guide, title, words }: Entry, typed: readonly string[]): number {
  const inTitle = fold(title);
  const titleWords = wordsOf(inTitle);
  const scoreOfWord = (word: string) =>
    (titleWords.has(stem(word)) ? 10 : 0) + (inTitle.includes(word) ? 2 : 0) + (words.has(stem(word)) ? 3 : 0);
  // The overview mentions every page; the page itself is the better result.
  const start = guide.slug === '' ? -5 : Number(inTitle === typed.join(' '));
  return typed.reduce((score, word) => score + scoreOfWord(word), start);
}

/** The content of the page for a query. */
export function searchResults(index: Index, parameter: unknown, root: string): { query: string; content: Html } {
  const query = typeof parameter === 'string' ? parameter.trim().slice(0, maximumLength) : '';
  const words = topicOf(query);
  const found = find(index, words);
  const count =
    found.length === 1 ? '1 section' : `${found.length === maximumResults ? 'The first ' : ''}${found.length} sections`;
  const content = html`<h1>Search</h1>
    <p role="status">
      ${query === '' ? 'Type one or more words into the search field.' : `${found.length === 0 ? 'Nothing' : count} found for “${query}”.`}
    </p>
    ${found.length === 0 && query !== '' && html`<p>Try fewer or different words, or browse the menu. Every operation and field is in the <a href="${root}/docs/reference">reference</a>.</p>`}
    <ol class="results">
      ${found.map(
        ({ guide, title, id, text }) =>
          html`<li>
            <a href="${guideUrl(guide.slug, root)}${id === '' ? '' : `#${id}`}">${title}</a>
            <span class="in">${guide.title}</span>
            <p>${excerpt(text, words)}</p>
          </li>`,
      )}
    </ol>`;
  return { query, content };
}

/** The part of the text around the first matching word. */
function excerpt(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const places = words.map((word) => lower.indexOf(word)).filter((place) => place > 0);
  const start = Math.max(0, Math.min(...places) - 60);
  // Whole words only.
  const from = places.length === 0 || start === 0 ? 0 : text.indexOf(' ', start) + 1;
  const part = text.slice(from, from + 180).replace(text.length > from + 180 ? /\s\S*$/ : /(?<!\s)\s+$/, '');
  return `${from > 0 ? '… ' : ''}${part}${from + 180 < text.length ? ' …' : ''}`;
}
