/** The root files that browsers look for, the typed client, and the page for an unknown URL. */
import { Router } from 'express';
import type { RequestHandler } from 'express';
import { ownFile, readVersion } from '../files.ts';
import { Problem } from '../problems/problem.ts';
import { readAsset } from './assets.ts';
import { llmsText } from './docs/llms.ts';
import { sendClientPackage } from './client-package.ts';
import { sendErrorPage } from './settings/error-page.ts';

const icon = readAsset(ownFile('web/settings/assets/icon.svg'));
const oneDay = 86_400;

export function siteRoutes(baseUrl: () => string): Router {
  const router = Router({ caseSensitive: true });
  router.get('/', (_, response) => response.redirect(302, '/docs'));
  // An SVG under the name that browsers request by default; those that need a bitmap show none.
  router.get('/favicon.ico', (_, response) => {
    response.set({ 'Content-Type': icon.type, 'Cache-Control': `public, max-age=${oneDay}` }).send(icon.plain());
  });
  router.get('/robots.txt', (_, response) => {
    response.type('text/plain').send('User-agent: *\nAllow: /docs\nAllow: /llms.txt\nDisallow: /\n');
  });
  router.get('/llms.txt', (_, response) => void response.type('text/plain').send(llmsText(baseUrl())));
  addClient(router, baseUrl);
  return router;
}

function addClient(router: Router, baseUrl: () => string): void {
  const version = readVersion();
  router.get('/client.tgz', sendClientPackage('public, max-age=300'));
  router.get(`/client-${version}.tgz`, sendClientPackage('public, max-age=31536000, immutable'));
  router.get(/^\/client-[\w.-]+\.tgz$/, () => {
    const hint = `This service has version ${version} of the client: ${baseUrl()}/client.tgz.`;
    throw new Problem('route_not_found', { hint });
  });
}

/** For an unknown URL, browsers get a page; programs, and everything under /v1, get a problem in JSON. */
export const unknownPage: RequestHandler = (request, response, next) => {
  const isPage = ['GET', 'HEAD'].includes(request.method) && !/^\/v1(\/|$)/.test(request.path);
  if (!isPage || request.accepts(['json', 'html']) !== 'html' || !/text\/html/.test(request.headers.accept ?? ''))
    return next();
  sendErrorPage(new Problem('unknown', { sentence: 'There is no page at this URL.' }), request, response, next);
};
