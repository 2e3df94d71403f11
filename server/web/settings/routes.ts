/** The settings pages: one router, whose routes are registered by topic. */
import express, { Router } from 'express';
import { accountRoutes } from './account/account-page.ts';
import { twoFactorRoutes } from './account/two-factor-routes.ts';
import { activityRoutes } from './activity/activity-page.ts';
import { connectRoutes } from './connect/connect-routes.ts';
import { rejectOtherMethods } from '../../problems/method-not-allowed.ts';
import { sendErrorPage } from './error-page.ts';
import { exportRoutes } from './export/export-routes.ts';
import { importRoutes, readColumnsForm } from './import/import-routes.ts';
import { readUploadForm } from './import/multipart.ts';
import { keyRoutes } from './keys/key-routes.ts';
import { serveAsset } from './layout.ts';
import { memberRoutes } from './members/member-routes.ts';
import { overviewRoutes } from './overview/overview-page.ts';
import { pageNotFound } from './page.ts';
import { recordRoutes } from './records/record-routes.ts';
import { createServices } from './services.ts';
import type { RouterParts } from './services.ts';
import { homePath, SessionGuard } from './session-guard.ts';
import { codeRoutes } from './sign-in/code-page.ts';
import { signInRoutes, singleSignOnRoutes } from './sign-in/sign-in-routes.ts';
import { usageRoutes } from './usage/usage-page.ts';
import { webhookRoutes } from './webhooks/webhook-routes.ts';

export function settingsRouter(parts: RouterParts): Router {
  const services = createServices(parts);
  const router = Router({ caseSensitive: true });
  const guard = new SessionGuard(router, services);

  router.get('/assets/:file', serveAsset);
  router.use('/imports/:id/columns', readColumnsForm);
  router.all('/imports', readUploadForm);
  router.use(express.urlencoded({ extended: false, limit: '16kb', parameterLimit: 50 }));
  router.get('/', (_, response) => response.redirect(303, homePath));
  for (const register of topics) register(guard);
  if (services.singleSignOn) singleSignOnRoutes(guard, services.singleSignOn);
  rejectOtherMethods(router);
  router.use(() => {
    throw pageNotFound();
  });
  router.use(sendErrorPage);
  return router;
}

const topics: readonly ((guard: SessionGuard) => void)[] = [
  signInRoutes,
  codeRoutes,
  keyRoutes,
  connectRoutes,
  usageRoutes,
  overviewRoutes,
  recordRoutes,
  webhookRoutes,
  importRoutes,
  exportRoutes,
  memberRoutes,
  activityRoutes,
  accountRoutes,
  twoFactorRoutes,
];
