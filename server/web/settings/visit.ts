/** What handlers of the settings get and return. */
import type { Request, Response } from 'express';
import type { Kind } from '../../../contract/fields.ts';
import type { Visitor } from '../../accounts/sign-in.ts';
import type { Mail } from '../../outgoing/mail.ts';
import { Problem } from '../../problems/problem.ts';
import { storedId } from '../../records/public-id.ts';
import { adminsOnly } from '../../records/require-admin.ts';
import { pageNotFound } from './page.ts';
import type { Page } from './page.ts';
import type { SettingsServices } from './services.ts';

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

declare global {
  // As in `server/http/context.ts`.
  namespace Express {
    interface Locals {
      /** Error pages have the menu, too. */
      visit?: Visit;
    }
  }
}

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

/** Sends in the background: no request waits for the mail server. */
export const sendMail = ({ mailer, onError }: Pick<SettingsServices, 'mailer' | 'onError'>, mail: Mail): void =>
  void mailer?.send(mail).catch(onError);
