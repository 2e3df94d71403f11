/** The frame of every page: head, search, navigation, the headings on the page, and where to go next. */
import type { Assets } from './assets.ts';
import { html, Html } from '../html.ts';
import { siteTitle } from './guides.ts';
import type { Guide } from './guides.ts';
import type { Section } from './markdown.ts';

export type Frame = { root: string; assets: Assets; guides: readonly Guide[] };

type Page = {
  title: string;
  summary: string;
  /** The guide that is shown; undefined on other pages. */
  slug?: string;
  content: Html;
  headings?: readonly Section[];
  /** What is in the search field. */
  query?: string;
};

export function framePage(page: Page, { root, assets, guides }: Frame): string {
  const { title, summary, slug, content, headings = [], query = '' } = page;
  const next = slug === undefined ? undefined : guides[guides.findIndex((guide) => guide.slug === slug) + 1];
  const links = html`<ul>
    ${guides.map((guide) => entry(guideUrl(guide.slug, root), guide.title, guide.slug === slug))}
    ${entry(`${root}/docs/reference`, 'Reference', title === 'Reference')}
  </ul>`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="description" content="${summary}" />
        <title>${slug === '' ? siteTitle : `${title} · ${siteTitle}`}</title>
        <link rel="icon" href="${root}/favicon.ico" />
        <link rel="stylesheet" href="${root}/docs/assets/${assets.style.name}" />
        <script src="${root}/docs/assets/${assets.script.name}" defer></script>
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <header>
          <a href="${root}/docs">${siteTitle}</a>
          <form role="search" action="${root}/docs/search">
            <input
              type="search"
              name="q"
              value="${query}"
              maxlength="100"
              placeholder="Search"
              aria-label="Search the documentation"
            />
          </form>
        </header>
        <details class="menu">
          <summary>Menu</summary>
          <nav aria-label="Guides">${links}</nav>
        </details>
        <nav class="guides" aria-label="Guides">${links}</nav>
        <main id="content" tabindex="-1">
          ${content} ${next && html`<p class="next">Next: <a href="${guideUrl(next.slug, root)}">${next.title}</a></p>`}
        </main>
        ${
          headings.length > 1 &&
          html`<nav class="headings" aria-labelledby="on-this-page">
            <p id="on-this-page">On this page</p>
            <ul>
              ${headings.map(({ id, title: label }) => entry(`#${id}`, label, false))}
            </ul>
          </nav>`
        }
      </body>
    </html> `.html;
}

const entry = (url: string, label: string, isCurrent: boolean): Html =>
  html`<li>
    <a href="${url}" ${isCurrent && new Html('aria-current="page"')}>${label}</a>
  </li>`;

export const guideUrl = (slug: string, root: string): string => `${root}/docs${slug === '' ? '' : `/${slug}`}`;
