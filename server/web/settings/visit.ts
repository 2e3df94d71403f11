/** What the routes of the settings share: the services, and what handlers get and return. */
import type { Request, Response } from 'express';
import type { Kind } from '../../../contract/fields.ts';
import type { KnownDevices } from '../../accounts/known-devices.ts';
import type { Mail, Mailer } from '../../outgoing/mail.ts';
import type { SecondStep } from '../../accounts/second-step.ts';
import type { SignIns, Visitor } from '../../accounts/sign-in.ts';
import type { SingleSignOn } from '../../accounts/single-sign-on.ts';
import type { TwoFactor } from '../../accounts/two-factor.ts';
import type { Clients } from '../../connect/clients.ts';
import type { KeyDirectory } from '../../keys/directory.ts';
import type { UsageLog } from '../../keys/usage.ts';
import type { AdmissionParts } from '../../api/perform.ts';
import { Problem } from '../../problems/problem.ts';
import { storedId } from '../../records/public-id.ts';
import { adminsOnly } from '../../records/require-admin.ts';
import type { Uploads } from '../../uploads/uploads.ts';
import type { EndpointParts } from '../../webhooks/endpoints.ts';
import type { CsrfTokens } from './csrf.ts';
import { pageNotFound } from './page.ts';
import type { Page } from './page.ts';

export type Params = Record<string, string>;

/** A request whose sender is not known yet. */
export type PublicRequest = {
  request: Request<Params, unknown, unknown>;
  response: Response;
  context: SettingsServices;
};

export type Visit = Visitor &
  PublicRequest & {
    /** A new CSRF token for a form of this session. */
    csrfToken: () => string;
  };

/** `csrfTokenId` identifies the form that was sent. */
export type Change = Visit & { csrfTokenId: string };

/** A page, or the path that the browser goes to next; undefined if the handler has sent the response. */
export type Result = Page | string | undefined;

/** The stored id of the record that the path names. */
export function idIn({ request }: Pick<Visit, 'request'>, kind: Kind): string {
  const id = storedId(kind, request.params.id ?? '');
  if (id === undefined) throw pageNotFound();
  return id;
}

/** For pages that only admins see. Forms check again in their own transaction. */
export function requireAdminVisit({ member }: Pick<Visit, 'member'>, privilege: string): void {
  if (member.role !== 'admin') throw adminsOnly(privilege);
}

/** Maps a word in the URL to one of our sentences, so a link cannot put its own text on the page. */
export const sentenceFor = (sentences: Readonly<Record<string, string>>, word: string): string | undefined =>
  Object.hasOwn(sentences, word) ? sentences[word] : undefined;

/** Throws if the caller has to wait. */
export function rejectTooMany(waitSeconds: number, what?: string): void {
  if (waitSeconds > 0) throw tooMany(waitSeconds, what);
}

export const tooMany = (waitSeconds: number, what = 'attempts'): Problem =>
  new Problem('too_many', {
    sentence: `Too many ${what}. Try again in ${inWords(waitSeconds)}.`,
    retryAfterSeconds: waitSeconds,
  });

export function inWords(seconds: number): string {
  if (seconds < 60) return seconds === 1 ? 'a second' : `${seconds} seconds`;
  return seconds === 60 ? 'a minute' : `${Math.ceil(seconds / 60)} minutes`;
}

/** Parts of the service, including the rate limit, which also applies to members who look at records. */
export type SettingsParts = AdmissionParts & {
  keys: KeyDirectory;
  usage: UsageLog;
  uploads: Uploads;
  webhooks: EndpointParts;
  /** For failures outside a request, such as sending mail. */
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
  /** The applications that ask for a key. */
  clients: Clients;
};

/** Sends in the background: no request waits for the mail server. */
export const sendMail = ({ mailer, onError }: Pick<SettingsServices, 'mailer' | 'onError'>, mail: Mail): void =>
  void mailer?.send(mail).catch(onError);
