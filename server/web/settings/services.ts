/** What the settings pages need from the service, and what they share. */
import { knownDevices } from '../../accounts/known-devices.ts';
import { SecondStep } from '../../accounts/second-step.ts';
import { SignIns } from '../../accounts/sign-in.ts';
import { SingleSignOn } from '../../accounts/single-sign-on.ts';
import type { Provider } from '../../accounts/single-sign-on.ts';
import { TwoFactor } from '../../accounts/two-factor.ts';
import type { Clock } from '../../accounts/two-factor.ts';
import type { AdmissionParts } from '../../api/perform.ts';
import { createClients } from '../../connect/clients.ts';
import { databaseTime } from '../../database/clock.ts';
import type { KeyDirectory } from '../../keys/directory.ts';
import type { UsageLog } from '../../keys/usage.ts';
import { createMailer } from '../../outgoing/mail.ts';
import type { MailOptions } from '../../outgoing/mail.ts';
import type { Uploads } from '../../uploads/uploads.ts';
import type { EndpointParts } from '../../webhooks/endpoints.ts';
import { csrfTokens } from './csrf.ts';

/** What the operator can configure for these pages. */
export type SettingsOptions = {
  /** A mail server, as `smtp://…`, and the sender of its mail. */
  mail?: MailOptions | undefined;
  singleSignOn?: Provider | undefined;
  /** The clock for the codes of authenticator apps; by default, the database's. */
  now?: Clock | undefined;
};

/** Includes the rate limit, which also applies to members who look at records. */
export type RouterParts = SettingsOptions &
  AdmissionParts & {
    keys: KeyDirectory;
    usage: UsageLog;
    uploads: Uploads;
    webhooks: EndpointParts;
    /** For failures outside a request, such as sending mail. */
    onError: (error: unknown) => void;
    /** The service is reached over https. */
    secure: boolean;
  };

export type SettingsServices = ReturnType<typeof createServices>;

export function createServices({ mail, singleSignOn: provider, ...parts }: RouterParts) {
  const { now = () => databaseTime(parts.database.signIns) } = parts;
  const signIns = new SignIns(parts);
  const twoFactor = new TwoFactor({ ...parts, now });
  const devices = knownDevices(parts);
  return {
    ...parts,
    signIns,
    twoFactor,
    secondStep: new SecondStep({ ...parts, signIns, twoFactor, devices, now }),
    csrf: csrfTokens(parts.secret),
    devices,
    /** Undefined if no mail server is configured. */
    mailer: mail && createMailer(mail),
    /** Undefined if no OpenID provider is configured. */
    singleSignOn: provider && new SingleSignOn({ ...parts, provider }),
    /** The applications that ask for a key. */
    clients: createClients({ secret: parts.secret, destinations: parts.webhooks.destinations }),
  };
}
