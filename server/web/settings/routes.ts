/** The settings pages: one router, whose routes are registered by topic. */
import express, { Router } from 'express';
import { createMailer } from '../../accounts/mail.ts';
import { createSignIns } from '../../accounts/sign-in.ts';
import { createSingleSignOn } from '../../accounts/single-sign-on.ts';
import type { Provider } from '../../accounts/single-sign-on.ts';
import type { Database } from '../../database/orm.ts';
import type { Uploads } from '../../import/uploads/uploads.ts';
import type { KeyDirectory } from '../../keys/directory.ts';
import type { UsageLog } from '../../keys/usage.ts';
import { accountRoutes } from './account-routes.ts';
import { serveAsset } from './assets.ts';
import type { SettingsContext } from './context.ts';
import { csrfTokens } from './csrf.ts';
import { pageNotFound, sendErrorPage } from './error-page.ts';
import { exportRoutes } from './export-routes.ts';
import { importRoutes } from './import-routes.ts';
import { keyRoutes } from './key-routes.ts';
import { memberRoutes } from './member-routes.ts';
import { createSessionGuard, homePath } from './session-guard.ts';
import { forgottenRoutes, signInRoutes } from './sign-in-routes.ts';
import { singleSignOnRoutes } from './single-sign-on-routes.ts';
import { usageRoutes } from './usage-routes.ts';

/** What the operator may configure beside the rest of the service. */
export type SettingsOptions = {
  /** A mail server, as `smtp://…`, and who its mail is from. */
  mail?: { url: string; from: string } | undefined;
  singleSignOn?: Provider | undefined;
};

export type SettingsParts = SettingsOptions & {
  database: Database;
  keys: KeyDirectory;
  usage: UsageLog;
  uploads: Uploads;
  /** Signs sessions and forms: at least 32 characters, the same for every process and after a restart. */
  secret: string;
  /** The service is reached over https. */
  secure: boolean;
  baseUrl: () => string;
  onError: (error: unknown) => void;
};

const oneYear = 365 * 86_400;

export function settingsRouter({ mail, singleSignOn: provider, ...parts }: SettingsParts): Router {
  const { database, secret, secure, baseUrl } = parts;
  const signIns = createSignIns(parts);
  const csrf = csrfTokens(secret);
  const singleSignOn = provider && createSingleSignOn({ ...parts, provider });
  const guard = createSessionGuard({ signIns, csrf, database, baseUrl });
  const context: SettingsContext = { ...parts, guard, signIns, csrf, mailer: mail && createMailer(mail), singleSignOn };
  const router = Router({ caseSensitive: true });

  if (secure)
    router.use((_, response, next) => {
      response.set('Strict-Transport-Security', `max-age=${oneYear}`);
      next();
    });
  router.get('/assets/:file', serveAsset);
  router.use(express.urlencoded({ extended: false, limit: '16kb', parameterLimit: 20 }));
  router.get('/', (_, response) => response.redirect(303, homePath));
  signInRoutes(router, context);
  forgottenRoutes(router, context);
  if (singleSignOn) singleSignOnRoutes(router, context, singleSignOn);
  keyRoutes(router, context);
  usageRoutes(router, context);
  importRoutes(router, context);
  exportRoutes(router, context);
  memberRoutes(router, context);
  accountRoutes(router, context);
  router.use(() => {
    throw pageNotFound();
  });
  router.use(sendErrorPage);
  return router;
}
