/** A guide in Markdown → HTML: headings link to themselves, code has a label and colors, tables can scroll. */
import { readFileSync } from 'node:fs';
import { Marked } from 'marked';
import type { Tokens } from 'marked';
import { ownFile } from '../../files.ts';
import { escapeHtml, html } from '../html.ts';
import { highlight } from './highlight.ts';

/** The service's URL in the sources of the guides. */
const exampleBaseUrl = 'https://api.example.com';

/** The path of the service's URL: empty, or the prefix that a proxy adds. */
export const rootOf = (baseUrl: string): string => new URL(baseUrl).pathname.replace(/\/+$/, '');

/** The guide with this service's own URL in its examples. */
export const withServiceUrl = (source: string, baseUrl: string): string => source.replaceAll(exampleBaseUrl, baseUrl);

/** The guide as text to be read elsewhere, with absolute URLs in its links. */
export const withAbsoluteUrls = (source: string, baseUrl: string): string =>
  withServiceUrl(source, baseUrl).replaceAll(/\]\((\/|[\w/-]+\.(?:md|svg)\b)/g, (_, target: string) =>
    target === '/' ? `](${baseUrl}/` : `](${baseUrl}/docs/${target}`,
  );

export type Section = { id: string; depth: number; title: string; text: string };

/** The guide split at its headings, as plain text: for the table of contents and for search. */
export function sectionsOf(source: string): Section[] {
  const sections: Section[] = [];
  for (const token of new Marked().lexer(source)) {
    if (token.type === 'heading') {
      // Marked's types also allow tokens of extensions, which can be anything.
      const { text, depth } = token as Tokens.Heading;
      sections.push({ id: depth === 1 ? '' : slugOf(text), depth, title: plainText(text), text: '' });
    } else {
      const section = sections.at(-1);
      if (section) section.text += ` ${plainText(token.raw)}`;
    }
  }
  return sections;
}

const plainText = (markdown: string): string =>
  markdown
    .replaceAll(/^```.*$|^\| ---.*$/gm, ' ')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*|]+/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** `baseUrl` is the URL of the service, without a trailing slash. */
export function renderMarkdown(source: string, baseUrl: string): string {
  const root = rootOf(baseUrl);
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }: Tokens.Heading) {
        const label = this.parser.parseInline(tokens);
        if (depth === 1) return `<h1>${label}</h1>\n`;
        const id = slugOf(label);
        return `<h${depth} id="${id}"><a href="#${id}">${label}</a></h${depth}>\n`;
      },
      code: ({ text, lang }: Tokens.Code) => renderCode(text, lang ?? '').html,
      table(token: Tokens.Table) {
        const cells = (row: Tokens.TableCell[], tag: string, attributes = '') =>
          row.map(({ tokens }) => `<${tag}${attributes}>${this.parser.parseInline(tokens)}</${tag}>`).join('');
        const rows = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n');
        const head = cells(token.header, 'th', ' scope="col"');
        // Focusable, so that a table wider than the screen can be scrolled by keyboard.
        return `<div class="wide" tabindex="0" role="group" aria-label="Table"><table>\n<thead><tr>${head}</tr></thead>\n<tbody>${rows}</tbody>\n</table></div>\n`;
      },
      // Inlined, so pictures have the color of the text.
      image: ({ href, text }: Tokens.Image) =>
        `<span class="picture" role="img" tabindex="0" aria-label="${escapeHtml(text)}">${readPicture(href)}</span>`,
      link({ href, tokens }: Tokens.Link) {
        return `<a href="${escapeHtml(pageAddress(href, root))}">${this.parser.parseInline(tokens)}</a>`;
      },
    },
  });
  const page = marked.parse(withServiceUrl(source, baseUrl), { async: false });
  // Groups adjacent blocks that show the same example in several languages.
  return page.replaceAll(
    /(?:<figure\s+class="code tab"[\s\S]*?<\/figure>\s*){2,}/g,
    (figures) => `<div class="tabs">${figures}</div>\n`,
  );
}

/** An SVG from the folder of the guides. */
export const readPicture = (file: string): string => readFileSync(ownFile(`web/docs/guides/${file}`), 'utf8');

/** `errors.md#not_found` → `/docs/errors#not_found`; a link that starts with a slash is a path of the service. */
function pageAddress(href: string, root: string): string {
  const [, page, rest = ''] = /^([\w/-]+)\.md(#.*)?$/.exec(href) ?? [];
  if (page !== undefined) return `${root}/docs${page === 'index' ? '' : `/${page}`}${rest}`;
  return href.startsWith('/') ? root + href : href;
}

export function slugOf(label: string): string {
  const words = label.toLowerCase().replaceAll(/<[^>]*>|&#?\w+;/g, '');
  return words.replaceAll(/[^a-z0-9_]+/g, '-').replaceAll(/^-+|-+$/g, '');
}

/** After the language: a file name, `tab` for a group, and `status=412` for the response status that the tests expect. */
function renderCode(text: string, info: string) {
  const [language = '', ...rest] = info.split(' ');
  const status = rest.find((word) => word.startsWith('status='))?.slice('status='.length);
  const file = rest.find((word) => !word.includes('=') && word !== 'tab');
  const label = labels[file ?? language] ?? file ?? language;
  return html`<figure
    class="${rest.includes('tab') ? 'code tab' : 'code'}"
    data-language="${language}"
    ${status === undefined ? '' : html` data-status="${status}"`}
  >
    <figcaption>${label}</figcaption>
    <pre tabindex="0" role="group" aria-label="${label}"><code>${highlight(text, language)}</code></pre>
  </figure> `;
}

const labels: Record<string, string> = {
  bash: 'Shell',
  curl: 'curl',
  js: 'JavaScript',
  ts: 'TypeScript',
  python: 'Python',
  json: 'JSON',
  http: 'HTTP',
  text: 'Text',
};
