/** The settings pages: one router, whose routes are registered by topic. */
import express, { Router } from 'express';
import { knownDevices } from '../../accounts/known-devices.ts';
import { createMailer } from '../../outgoing/mail.ts';
import type { MailOptions } from '../../outgoing/mail.ts';
import { SecondStep } from '../../accounts/second-step.ts';
import { SignIns } from '../../accounts/sign-in.ts';
import { Clients } from '../../connect/clients.ts';
import { SingleSignOn } from '../../accounts/single-sign-on.ts';
import type { Provider } from '../../accounts/single-sign-on.ts';
import { TwoFactor } from '../../accounts/two-factor.ts';
import type { Clock } from '../../accounts/two-factor.ts';
import { databaseTime } from '../../database/clock.ts';
import { accountRoutes } from './account/account-page.ts';
import { twoFactorRoutes } from './account/two-factor-routes.ts';
import { activityRoutes } from './activity/activity-page.ts';
import { connectRoutes } from './connect/connect-routes.ts';
import { rejectOtherMethods } from '../../problems/method-not-allowed.ts';
import { csrfTokens } from './csrf.ts';
import { sendErrorPage } from './error-page.ts';
import { exportRoutes } from './export/export-routes.ts';
import { importRoutes, readColumnsForm, readUploadForm } from './import/import-routes.ts';
import { keyRoutes } from './keys/key-routes.ts';
import { serveAsset } from './layout.ts';
import { memberRoutes } from './members/member-routes.ts';
import { overviewRoutes } from './overview/overview-page.ts';
import { pageNotFound } from './page.ts';
import { recordRoutes } from './records/record-routes.ts';
import { homePath, SessionGuard } from './session-guard.ts';
import { codeRoutes } from './sign-in/code-page.ts';
import { signInRoutes, singleSignOnRoutes } from './sign-in/sign-in-routes.ts';
import { usageRoutes } from './usage/usage-page.ts';
import type { SettingsParts, SettingsServices } from './visit.ts';
import { webhookRoutes } from './webhooks/webhook-routes.ts';

/** What the operator can configure for these pages. */
export type SettingsOptions = {
  /** A mail server, as `smtp://…`, and the sender of its mail. */
  mail?: MailOptions | undefined;
  singleSignOn?: Provider | undefined;
  /** The clock for the codes of authenticator apps; by default, the database's. */
  now?: Clock | undefined;
};

export type RouterParts = SettingsOptions &
  SettingsParts & {
    /** The service is reached over https. */
    secure: boolean;
  };

const oneYear = 365 * 86_400;

export function settingsRouter({ mail, singleSignOn: provider, ...parts }: RouterParts): Router {
  const { now = () => databaseTime(parts.database.signIns) } = parts;
  const signIns = new SignIns(parts);
  const twoFactor = new TwoFactor({ ...parts, now });
  const devices = knownDevices(parts);
  const services: SettingsServices = {
    ...parts,
    signIns,
    twoFactor,
    secondStep: new SecondStep({ ...parts, signIns, twoFactor, devices, now }),
    csrf: csrfTokens(parts.secret),
    devices,
    mailer: mail && createMailer(mail),
    singleSignOn: provider && new SingleSignOn({ ...parts, provider }),
    clients: new Clients({ secret: parts.secret, destinations: parts.webhooks.destinations }),
  };
  const router = Router({ caseSensitive: true });
  const guard = new SessionGuard(router, services);

  if (parts.secure)
    router.use((_, response, next) => {
      response.set('Strict-Transport-Security', `max-age=${oneYear}`);
      next();
    });
  router.get('/assets/:file', serveAsset);
  router.use('/imports/:id/columns', readColumnsForm);
  router.all('/imports', readUploadForm);
  router.use(express.urlencoded({ extended: false, limit: '16kb', parameterLimit: 20 }));
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
