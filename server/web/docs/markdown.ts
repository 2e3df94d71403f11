/** A guide in Markdown → HTML: headings are links to themselves, code has a name, tables may be wider than the screen. */
import { Marked } from 'marked';
import type { Tokens } from 'marked';
import { escapeHtml, html } from '../html.ts';
import type { Html } from '../html.ts';

/** What the guides call the service, so that they read well where they are written. */
const exampleBaseUrl = 'https://api.example.com';

/** The path below which the service is reached: empty, or what a proxy has put before it. */
export const rootOf = (baseUrl: string): string => new URL(baseUrl).pathname.replace(/\/+$/, '');

/** `baseUrl` is the address of the service, without a slash at its end. */
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
        const cells = (row: Tokens.TableCell[], tag: string) =>
          row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('');
        const rows = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n');
        return wideTable(
          `<thead><tr>${cells(token.header, 'th scope="col"').replaceAll('</th scope="col">', '</th>')}</tr></thead>\n<tbody>${rows}</tbody>`,
        );
      },
      link({ href, tokens }: Tokens.Link) {
        return `<a href="${escapeHtml(pageAddress(href, root))}">${this.parser.parseInline(tokens)}</a>`;
      },
    },
  });
  return marked.parse(source.replaceAll(exampleBaseUrl, baseUrl), { async: false });
}

/** `errors.md#not_found` → `/docs/errors#not_found`; what starts with a slash is an address of the service. */
function pageAddress(href: string, root: string): string {
  const [, page, rest = ''] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  if (page !== undefined) return `${root}/docs${page === 'index' ? '' : `/${page}`}${rest}`;
  return href.startsWith('/') ? root + href : href;
}

function slugOf(label: string): string {
  const words = label.toLowerCase().replaceAll(/<[^>]*>|&#?\w+;/g, '');
  return words.replaceAll(/[^a-z0-9_]+/g, '-').replaceAll(/^-+|-+$/g, '');
}

/** The word after the language is the name of the file; `status=412` tells the tests what the request is answered with. */
function renderCode(text: string, info: string): Html {
  const [language = '', ...rest] = info.split(' ');
  const status = rest.find((word) => word.startsWith('status='))?.slice('status='.length);
  const file = rest.find((word) => !word.includes('='));
  const label = labels[file ?? language] ?? file ?? language;
  return html`<figure
    class="code"
    data-language="${language}"
    ${status === undefined ? '' : html` data-status="${status}"`}
  >
    <figcaption>${label}</figcaption>
    <pre tabindex="0" role="group" aria-label="${label}"><code>${text}</code></pre>
  </figure> `;
}

const labels: Record<string, string> = {
  bash: 'Shell',
  js: 'JavaScript',
  ts: 'TypeScript',
  json: 'JSON',
  http: 'HTTP',
  text: 'Text',
  zapier: 'Code in Zapier',
  n8n: 'Code node of n8n',
};

/** Reachable by keyboard, because it can be wider than the screen. */
export function wideTable(rows: string): string {
  return `<div class="wide" tabindex="0" role="group" aria-label="Table"><table>\n${rows}\n</table></div>\n`;
}
