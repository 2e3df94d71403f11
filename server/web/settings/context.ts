/** What the routes of the settings share. */
import type { KnownDevices } from '../../accounts/known-devices.ts';
import type { Mailer } from '../../accounts/mail.ts';
import type { SingleSignOn } from '../../accounts/single-sign-on.ts';
import type { SecondStep } from '../../accounts/second-step.ts';
import type { SignIns } from '../../accounts/sign-in.ts';
import type { TwoFactor } from '../../accounts/two-factor.ts';
import type { Database } from '../../database/orm.ts';
import type { Uploads } from '../../uploads/uploads.ts';
import type { KeyDirectory } from '../../keys/directory.ts';
import type { UsageLog } from '../../keys/usage.ts';
import type { AdmissionParts } from '../../operations/perform.ts';
import type { EndpointParts } from '../../webhooks/endpoints.ts';
import type { CsrfTokens } from './csrf.ts';

/** Parts of the service; also the rate limit, for members who look at records. */
export type SettingsParts = AdmissionParts & {
  database: Database;
  keys: KeyDirectory;
  usage: UsageLog;
  uploads: Uploads;
  webhooks: EndpointParts;
  baseUrl: () => string;
  /** For what fails beside a request, such as sending mail. */
  onError: (error: unknown) => void;
};

export type SettingsServices = SettingsParts & {
  signIns: SignIns;
  twoFactor: TwoFactor;
  secondStep: SecondStep;
  csrf: CsrfTokens;
  devices: KnownDevices;
  /** Undefined if no mail server is configured. */
  mailer: Mailer | undefined;
  /** Undefined if no OpenID provider is configured. */
  singleSignOn: SingleSignOn | undefined;
};
