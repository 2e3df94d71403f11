/** The settings pages: one router, whose routes are registered by topic. */
import express, { Router } from 'express';
import { knownDevices } from '../../accounts/known-devices.ts';
import { createMailer } from '../../accounts/mail.ts';
import type { MailOptions } from '../../accounts/mail.ts';
import { createSecondStep } from '../../accounts/second-step.ts';
import { createSignIns } from '../../accounts/sign-in.ts';
import { createSingleSignOn } from '../../accounts/single-sign-on.ts';
import type { Provider } from '../../accounts/single-sign-on.ts';
import { createTwoFactor } from '../../accounts/two-factor.ts';
import type { Clock } from '../../accounts/two-factor.ts';
import { databaseTime } from '../../database/clock.ts';
import { accountRoutes } from './account/account-routes.ts';
import { twoFactorRoutes } from './account/two-factor-routes.ts';
import { activityRoutes } from './activity/activity-routes.ts';
import { serveAsset } from './assets.ts';
import { connectRoutes } from './connect/connect-routes.ts';
import type { SettingsParts, SettingsServices } from './context.ts';
import { csrfTokens } from './csrf.ts';
import { pageNotFound, sendErrorPage } from './error-page.ts';
import { exportRoutes } from './export/export-routes.ts';
import { importRoutes, readColumnsForm } from './import/import-routes.ts';
import { keyRoutes } from './keys/key-routes.ts';
import { memberRoutes } from './members/member-routes.ts';
import { createSessionGuard, homePath } from './session-guard.ts';
import { codeRoutes } from './sign-in/code-routes.ts';
import { signInRoutes } from './sign-in/sign-in-routes.ts';
import { singleSignOnRoutes } from './sign-in/single-sign-on-routes.ts';
import { overviewRoutes } from './overview/overview-routes.ts';
import { recordRoutes } from './records/record-routes.ts';
import { usageRoutes } from './usage/usage-routes.ts';
import { webhookRoutes } from './webhooks/webhook-routes.ts';
import type { Secret } from '../../text/signatures.ts';

/** What the operator may configure beside the rest of the service. */
export type SettingsOptions = {
  /** A mail server, as `smtp://…`, and who its mail is from. */
  mail?: MailOptions | undefined;
  singleSignOn?: Provider | undefined;
  /** In place of the database's clock, for the codes of authenticator apps. */
  now?: Clock | undefined;
};

type RouterParts = SettingsOptions &
  SettingsParts & {
    /** Signs sessions and forms: at least 32 characters, the same for every process and after a restart. */
    secret: Secret;
    /** The service is reached over https. */
    secure: boolean;
  };

const oneYear = 365 * 86_400;

export function settingsRouter({ mail, singleSignOn: provider, ...parts }: RouterParts): Router {
  const { now = () => databaseTime(parts.database.signIns) } = parts;
  const signIns = createSignIns(parts);
  const twoFactor = createTwoFactor({ ...parts, now });
  const services: SettingsServices = {
    ...parts,
    signIns,
    twoFactor,
    secondStep: createSecondStep({ ...parts, signIns, twoFactor, now }),
    csrf: csrfTokens(parts.secret),
    devices: knownDevices(parts),
    mailer: mail && createMailer(mail),
    singleSignOn: provider && createSingleSignOn({ ...parts, provider }),
  };
  const context = { ...services, guard: createSessionGuard(services) };
  const router = Router({ caseSensitive: true });

  if (parts.secure)
    router.use((_, response, next) => {
      response.set('Strict-Transport-Security', `max-age=${oneYear}`);
      next();
    });
  router.get('/assets/:file', serveAsset);
  router.use('/imports/:id/columns', readColumnsForm);
  router.use(express.urlencoded({ extended: false, limit: '16kb', parameterLimit: 20 }));
  router.get('/', (_, response) => response.redirect(303, homePath));
  signInRoutes(router, context);
  codeRoutes(router, context);
  if (services.singleSignOn) singleSignOnRoutes(router, context, services.singleSignOn);
  keyRoutes(router, context);
  connectRoutes(router, context);
  usageRoutes(router, context);
  overviewRoutes(router, context);
  recordRoutes(router, context);
  webhookRoutes(router, context);
  importRoutes(router, context);
  exportRoutes(router, context);
  memberRoutes(router, context);
  activityRoutes(router, context);
  accountRoutes(router, context);
  twoFactorRoutes(router, context);
  router.use(() => {
    throw pageNotFound();
  });
  router.use(sendErrorPage);
  return router;
}
