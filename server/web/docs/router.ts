/** /docs: guides that need no JavaScript, the reference viewer, and their files, all from this server. */
import { readFileSync } from 'node:fs';
import express from 'express';
import type { Response, Router } from 'express';
import { serveAssets } from '../assets.ts';
import { contentSecurityPolicy } from '../content-security-policy.ts';
import { readAssets } from './assets.ts';
import { fillBlocks } from './blocks.ts';
import { guides } from './guides.ts';
import { framePage } from './layout.ts';
import { renderMarkdown, rootOf } from './markdown.ts';
import { describedDocument, referencePage } from './reference.ts';

/** Nothing but our own style sheet and our own script, which adds the copy buttons. */
const guidePolicy = contentSecurityPolicy({ 'img-src': 'data:' });

/**
 * Scripts from here only, none of them inline and none from text (no `unsafe-eval`), and no connection to another host.
 * Styles have to be open: the viewer adds its style sheet as an element and sets `style` attributes, which no nonce allows.
 * Pictures and fonts may be `data:` (icons), blobs are what a tried request brings back.
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
  for (const guide of guides) {
    const source = readFileSync(
      new URL(`guides/${guide.slug === '' ? 'index' : guide.slug}.md`, import.meta.url),
      'utf8',
    );
    const page = once(() => {
      const content = renderMarkdown(fillBlocks(source), baseUrl());
      return framePage(guide, content, { root: rootOf(baseUrl()), assets, guides });
    });
    router.get(`/${guide.slug}`, (_, response) => sendPage(response, page(), guidePolicy));
  }
  router.get('/reference', (_, response) =>
    sendPage(response, referencePage(rootOf(baseUrl()), assets), referencePolicy),
  );
  router.get('/openapi.json', (_, response) => void response.json(describedDocument(baseUrl())));
  router.get('/assets/:file', serveAssets(Object.values(assets)));
  return router;
}

function sendPage(response: Response, page: string, policy: string): void {
  response.set({ 'Content-Security-Policy': policy, 'Referrer-Policy': 'same-origin' }).type('html').send(page);
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
