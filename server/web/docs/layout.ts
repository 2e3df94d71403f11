/** The layout of every page: head, search, navigation, a table of contents, and a link to the next guide. */
import { ownFile } from '../../files.ts';
import { readAsset } from '../assets.ts';
import { html, Html, serviceName } from '../html.ts';
import { groups, guides, guideUrl, siteTitle } from './guides.ts';
import { rootOf } from './markdown.ts';
import type { Section } from './markdown.ts';
import { targetOf } from './reference/samples.ts';
import type { Sample } from './reference/samples.ts';

const own = (file: string) => readAsset(ownFile(`web/docs/assets/${file}`));

export const assets = { style: own('docs.css'), script: own('docs.js'), reference: own('reference.js') };

type Page = {
  title: string;
  summary: string;
  /** The slug of the guide; undefined on pages that search engines should not index. */
  slug?: string;
  content: Html;
  headings?: readonly Section[];
  /** The request that the reader can send from the page. */
  sample?: Sample | undefined;
  /** The text in the search field. */
  query?: string;
};

export function framePage(page: Page, baseUrl: string): string {
  const root = rootOf(baseUrl);
  const { title, summary, slug, content, headings = [], sample, query = '' } = page;
  const links = guideLinks(slug, root);
  // The script blocks rendering, so nothing shifts when code in several languages turns into tabs.
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="description" content="${summary}" />
        <title>${slug === '' ? siteTitle : `${title} · ${siteTitle}`}</title>
        ${slug === undefined ? html`<meta name="robots" content="noindex" />` : publicTags(page, guideUrl(slug, baseUrl))}
        <link rel="icon" href="${root}/favicon.ico" />
        <link rel="stylesheet" href="${root}/docs/assets/${assets.style.name}" />
        <script src="${root}/docs/assets/${assets.script.name}" defer blocking="render"></script>
        ${sample && html`<script src="${root}/docs/assets/${assets.reference.name}" defer></script>`}
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        ${header(root, query)}
        <details class="menu">
          <summary>Menu</summary>
          <nav aria-label="Guides">${links}</nav>
        </details>
        <nav class="guides" aria-label="Guides">${links}</nav>
        <main id="content" tabindex="-1">${content} ${sample && tryIt(sample, root)} ${nextGuide(slug, root)}</main>
        ${headings.length > 1 && onThisPage(headings)}
      </body>
    </html> `.html;
}

/** Tags for search engines and link previews. */
const publicTags = ({ title, summary, slug }: Page, url: string): Html =>
  html`<link rel="canonical" href="${url}" />
    <meta property="og:type" content="${slug === '' ? 'website' : 'article'}" />
    <meta property="og:site_name" content="${siteTitle}" />
    <meta property="og:title" content="${title}" />
    <meta property="og:description" content="${summary}" />
    <meta property="og:url" content="${url}" />`;

const guideLinks = (slug: string | undefined, root: string): Html =>
  html`<ul>
    ${groups.map(
      (group) =>
        html`<li>
          <span>${group.title}</span>
          <ul>
            ${group.guides.map((guide) => entry(guideUrl(guide.slug, root), guide.title, guide.slug === slug))}
            ${group.title === 'Build' && entry(`${root}/docs/reference`, 'Reference', slug === 'reference')}
          </ul>
        </li>`,
    )}
  </ul>`;

const header = (root: string, query: string): Html =>
  html`<header>
    <a class="brand" href="${root}/docs"
      ><img src="${root}/favicon.ico" width="24" height="24" alt="" /><strong>${serviceName}</strong>
      <span>Docs</span></a
    >
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
    <a href="${root}/settings">Settings</a>
  </header>`;

function nextGuide(slug: string | undefined, root: string): Html | undefined {
  const place = guides.findIndex((guide) => guide.slug === slug);
  const next = place === -1 ? undefined : guides[place + 1];
  return next && html`<p class="next">Next: <a href="${guideUrl(next.slug, root)}">${next.title}</a></p>`;
}

const onThisPage = (headings: readonly Section[]): Html =>
  html`<nav class="headings" aria-labelledby="on-this-page">
    <p id="on-this-page">On this page</p>
    <ul>
      ${headings.map(({ id, title }) => entry(`#${id}`, title, false))}
    </ul>
  </nav>`;

/** A form that sends the request of the page; its script shows it. */
const tryIt = (sample: Sample, root: string): Html =>
  html`<div class="try" data-root="${root}" data-method="${sample.method}" hidden>
    <h2 id="try-it">Try it</h2>
    <form autocomplete="off">
      <label>API key<input name="key" type="password" autocomplete="off" required /></label>
      <label>Path<input name="path" value="${targetOf(sample)}" required spellcheck="false" /></label>
      ${sample.body !== undefined && bodyField(sample.body)}
      <button>Send ${sample.method} request</button>
    </form>
    <pre role="status" aria-label="Response" tabindex="0" hidden></pre>
  </div>`;

const bodyField = (body: unknown): Html =>
  html`<label
    >Body<textarea name="body" rows="8" spellcheck="false">${JSON.stringify(body, null, 2)}</textarea>
  </label>`;

const entry = (url: string, label: string, isCurrent: boolean): Html =>
  html`<li>
    <a href="${url}" ${isCurrent && new Html('aria-current="page"')}>${label}</a>
  </li>`;
