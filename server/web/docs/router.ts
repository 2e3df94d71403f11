/** /docs: guides that need no JavaScript, the reference viewer, and their files, all from this server. */
import { readFileSync } from 'node:fs';
import express from 'express';
import type { Response, Router } from 'express';
import { ownFile } from '../../files.ts';
import { serveAssets } from '../assets.ts';
import { contentSecurityPolicy } from '../content-security-policy.ts';
import { readAssets } from './assets.ts';
import { fillBlocks } from './blocks.ts';
import { Html } from '../html.ts';
import { guides } from './guides.ts';
import type { Guide } from './guides.ts';
import { framePage } from './layout.ts';
import { localized, renderMarkdown, rootOf, sectionsOf } from './markdown.ts';
import { describedDocument, referencePage } from './reference.ts';
import { buildIndex, searchResults } from './search.ts';

/** Our own style sheet and script, and the search form. */
const guidePolicy = contentSecurityPolicy({ 'form-action': "'self'" });

/**
 * Scripts from here only, none of them inline and none from text (no `unsafe-eval`), and no connection to another host.
 * Styles have to be open: the viewer adds its style sheet as an element and sets `style` attributes, which no nonce allows.
 * Pictures and fonts may be `data:` (icons); the response to a test request is a blob.
 */
const referencePolicy = contentSecurityPolicy({
  'style-src': "'self' 'unsafe-inline'",
  'connect-src': "'self'",
  'img-src': "'self' data: blob:",
  'font-src': "'self' data:",
});

/** `baseUrl` is known once the server listens; the pages name it in their examples. */
export function docs(baseUrl: () => string): Router {
  const assets = readAssets();
  const router = express.Router({ caseSensitive: true });
  const frame = () => ({ root: rootOf(baseUrl()), assets, guides });
  for (const guide of guides) {
    const page = once(() => {
      const source = readGuide(guide);
      const content = new Html(renderMarkdown(source, baseUrl()));
      const headings = sectionsOf(source).filter(({ depth }) => depth === 2);
      return framePage({ ...guide, content, headings }, frame());
    });
    router.get(`/${guide.slug}`, (_, response) => sendPage(response, page(), guidePolicy));
    router.get(`/${guide.slug === '' ? 'index' : guide.slug}.md`, (_, response) => {
      response.type('text/markdown').send(localized(readGuide(guide), baseUrl()));
    });
  }
  const index = once(() =>
    buildIndex(guides.map((guide) => ({ guide, source: localized(readGuide(guide), baseUrl()) }))),
  );
  router.get('/search', ({ query: { q } }, response) => {
    const { query, content } = searchResults(index(), q, rootOf(baseUrl()));
    const page = { title: 'Search', summary: 'Search the documentation.', content, query };
    sendPage(response, framePage(page, frame()), guidePolicy);
  });
  router.get('/reference', (_, response) =>
    sendPage(response, referencePage(rootOf(baseUrl()), assets), referencePolicy),
  );
  router.get('/openapi.json', (_, response) => void response.json(describedDocument(baseUrl())));
  router.get('/assets/:file', serveAssets(Object.values(assets)));
  return router;
}

/** A guide in Markdown, with the parts that are cached from the contract. */
function readGuide({ slug }: Guide): string {
  return fillBlocks(readFileSync(ownFile(`web/docs/guides/${slug === '' ? 'index' : slug}.md`), 'utf8'));
}

function sendPage(response: Response, page: string, policy: string): void {
  response.set({ 'Content-Security-Policy': policy, 'Referrer-Policy': 'same-origin' }).type('html').send(page);
}

function once<T>(make: () => T): () => T {
  let cached: { value: T } | undefined;
  return () => (cached ??= { value: make() }).value;
}
