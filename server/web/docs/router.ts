/** /docs: guides that need no JavaScript, the reference viewer, and their files, all from this server. */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import express from 'express';
import type { Response, Router } from 'express';
import { readAssets } from './assets.ts';
import type { Asset } from './assets.ts';
import { fillBlocks } from './blocks.ts';
import { guides } from './guides.ts';
import { framePage } from './layout.ts';
import { renderMarkdown, rootOf } from './markdown.ts';
import { describedDocument, referencePage } from './reference.ts';

/** Nothing but our own style sheet and our own script, which adds the copy buttons. */
const guidePolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * Scripts from here only, none of them inline and none from text (no `unsafe-eval`), and no connection to another host.
 * Styles have to be open: the viewer adds its style sheet as an element and sets `style` attributes, which no nonce allows.
 * Pictures and fonts may be `data:` (icons), blobs are what a tried request brings back.
 */
const referencePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "connect-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

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
  for (const asset of Object.values(assets)) {
    router.get(`/assets/${asset.name}`, (request, response) => {
      sendAsset(response, asset, request.acceptsEncodings('gzip') === 'gzip');
    });
  }
  return router;
}

function sendPage(response: Response, page: string, policy: string): void {
  response.set({ 'Content-Security-Policy': policy, 'Referrer-Policy': 'same-origin' }).type('html').send(page);
}

/** Named by its content, it never changes. */
function sendAsset(response: Response, { type, stored, gzipped }: Asset, acceptsGzip: boolean): void {
  response.set({ 'Content-Type': type, 'Cache-Control': 'public, max-age=31536000, immutable' });
  if (!gzipped) return void response.send(stored);
  response.vary('Accept-Encoding');
  if (acceptsGzip) return void response.set('Content-Encoding', 'gzip').send(stored);
  response.send(gunzipSync(stored));
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
