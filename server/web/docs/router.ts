/** /docs: pages that work without JavaScript, and their assets, all from this server. */
import express from 'express';
import type { Response, Router } from 'express';
import { once } from '../../../contract/once.ts';
import { serveAssets } from '../assets.ts';
import { contentSecurityPolicy } from '../content-security-policy.ts';
import { html, Html } from '../html.ts';
import { wantsPage } from '../wants-page.ts';
import { rejectOtherMethods } from '../../problems/method-not-allowed.ts';
import { changelogFeed } from './changelog.ts';
import { assets, framePage } from './layout.ts';
import { readPicture, renderMarkdown, rootOf, sectionsOf, withAbsoluteUrls, withServiceUrl } from './markdown.ts';
import { pages } from './pages.ts';
import { buildIndex, searchResults } from './search.ts';

/** Stylesheet, scripts, the search form and the requests that readers try: all on this server. */
const policy = contentSecurityPolicy({ 'form-action': "'self'", 'connect-src': "'self'" });

/** The pages use `baseUrl` in their examples. */
export function docs(baseUrl: string): Router {
  const router = express.Router({ caseSensitive: true });
  for (const { markdown, sample, ...guide } of pages) {
    const page = once(() => {
      const source = markdown();
      const content = new Html(renderMarkdown(source, baseUrl));
      const headings = sectionsOf(source).filter(({ depth }) => depth === 2);
      return framePage({ ...guide, content, headings, sample: sample?.() }, baseUrl);
    });
    router.get(`/${guide.slug}`, (_, response) => sendPage(response, page()));
    router.get(`/${guide.slug === '' ? 'index' : guide.slug}.md`, (_, response) => {
      response.type('text/markdown').send(withAbsoluteUrls(markdown(), baseUrl));
    });
  }
  const index = once(() =>
    buildIndex(pages.map(({ markdown, ...guide }) => ({ guide, source: withServiceUrl(markdown(), baseUrl) }))),
  );
  router.get('/search', ({ query: { q } }, response) => {
    const { query, content } = searchResults(index(), q, rootOf(baseUrl));
    sendPage(response, framePage({ title: 'Search', summary: 'Search the documentation.', content, query }, baseUrl));
  });
  router.get('/changelog.atom', (_, response) => {
    response.type('application/atom+xml').send(changelogFeed(baseUrl));
  });
  router.get('/proposal-life.svg', (_, response) => void response.type('svg').send(readPicture('proposal-life.svg')));
  router.get('/assets/:file', serveAssets(assets));
  rejectOtherMethods(router);
  router.use((request, response, next) => {
    if (!wantsPage(request)) return next();
    sendPage(response.status(404), framePage(unknownDocsPage(rootOf(baseUrl)), baseUrl));
  });
  return router;
}

const unknownDocsPage = (root: string) => ({
  title: 'Page not found',
  summary: 'There is no page at this URL.',
  content: html`<h1>Page not found</h1>
    <p>
      There is no page at this URL. Search for a word above, choose a page in the menu, or start with the
      <a href="${root}/docs">overview</a>.
    </p>`,
});

function sendPage(response: Response, page: string): void {
  response.set({ 'Content-Security-Policy': policy, 'Referrer-Policy': 'same-origin' }).type('html').send(page);
}
