/** The root files that browsers look for, the typed client, and the page for an unknown URL. */
import { Router } from 'express';
import type { RequestHandler } from 'express';
import { ownFile } from '../files.ts';
import { readAsset } from './assets.ts';
import { addClient } from './client-package.ts';
import { html } from './html.ts';
import { rejectOtherMethods } from '../problems/method-not-allowed.ts';
import { sendErrorPage } from './settings/error-page.ts';
import { sendPage } from './settings/layout.ts';
import { pageNotFound } from './settings/page.ts';
import { wantsPage } from './wants-page.ts';

const icon = readAsset(ownFile('web/settings/assets/icon.svg'));
const oneDay = 86_400;

/** For visitors who do not know where to go yet. */
const welcomePage = {
  title: 'Welcome',
  main: html`<article class="card">
      <h1>Your customers, proposals and items</h1>
      <p>View, import and export them, and manage members and API keys.</p>
      <p><a href="/settings" role="button">Sign in</a></p>
    </article>
    <article class="card">
      <h2>Connecting a tool or writing a program?</h2>
      <p>The documentation has guides for no-code tools, agents, TypeScript and every other language.</p>
      <p><a href="/docs" role="button" class="outline">Read the docs</a></p>
    </article>`,
};

const robots = 'User-agent: *\nAllow: /docs\nAllow: /llms.txt\nAllow: /llms-full.txt\nDisallow: /\n';

type SiteParts = { baseUrl: string; securityContact?: string | undefined };

export function siteRoutes({ baseUrl, securityContact }: SiteParts): Router {
  const router = Router({ caseSensitive: true });
  router.get('/', (_, response) => sendPage(response, welcomePage));
  // An SVG at the URL that browsers request by default; browsers that need a bitmap show no icon.
  router.get('/favicon.ico', (_, response) => {
    response.set('Cache-Control', `public, max-age=${oneDay}`).type('svg').send(icon.bytes);
  });
  const publish = (path: string, type: string, write: () => string | Promise<string>) =>
    router.get(path, async (_, response) => void response.type(type).send(await write()));
  publish('/robots.txt', 'text/plain', () => `${robots}\nSitemap: ${baseUrl}/sitemap.xml\n`);
  // Loaded by the first request for it, like the documentation itself: see onDemand() in app.ts.
  const docs = () => import('./docs/pages.ts');
  publish('/sitemap.xml', 'application/xml', async () => (await docs()).sitemap(baseUrl));
  publish('/llms.txt', 'text/plain', async () => (await docs()).llmsText(baseUrl));
  publish('/llms-full.txt', 'text/plain', async () => (await docs()).llmsFullText(baseUrl));
  if (securityContact !== undefined)
    publish('/.well-known/security.txt', 'text/plain', () => securityText(securityContact, baseUrl));
  addClient(router, baseUrl);
  rejectOtherMethods(router);
  return router;
}

/** RFC 9116 requires an expiry date. It is always 90 days ahead: the contact is valid while the service runs with it. */
function securityText(contact: string, baseUrl: string): string {
  const expires = new Date(Date.now() + 90 * oneDay * 1000).toISOString();
  return `Contact: ${contact}
Expires: ${expires}
Preferred-Languages: en
Canonical: ${baseUrl}/.well-known/security.txt
`;
}

/** For an unknown URL, browsers get a page; programs, and everything under /v1, get a problem in JSON. */
export const unknownPage: RequestHandler = (request, response, next) => {
  if (/^\/v1(\/|$)/.test(request.path) || !wantsPage(request)) return next();
  sendErrorPage(pageNotFound(), request, response, next);
};
