/** The request of a signed-in member: what its handlers get, what they return, and what they have in common. */
import type { Request, Response } from 'express';
import type { Kind } from '../../../contract/fields.ts';
import type { Visitor } from '../../accounts/sign-in.ts';
import { Problem } from '../../problems/problem.ts';
import { storedId } from '../../records/public-id.ts';
import { adminsOnly } from '../../records/require-admin.ts';
import type { SettingsServices } from './context.ts';
import { pageNotFound } from './page.ts';
import type { Page } from './page.ts';

export type Params = Record<string, string>;

/** A request, before it is known who sent it. */
export type Open = { request: Request<Params>; response: Response; context: SettingsServices };

export type Visit = Visitor &
  Open & {
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

/** Before a page that only admins see. A form's own transaction asks again. */
export function requireAdminVisit({ member }: Pick<Visit, 'member'>, deed: string): void {
  if (member.role !== 'admin') throw adminsOnly(deed);
}

/** The sentence for a word of the URL, which nobody else can choose. */
export const sentenceFor = (sentences: Readonly<Record<string, string>>, word: string): string | undefined =>
  Object.hasOwn(sentences, word) ? sentences[word] : undefined;

/** Throws if the caller has to wait. */
export function rejectTooMany(waitSeconds: number): void {
  if (waitSeconds > 0) throw tooManyAttempts(waitSeconds);
}

export function tooManyAttempts(waitSeconds: number): Problem {
  const minutes = Math.ceil(waitSeconds / 60);
  const long = minutes === 1 ? 'a minute' : `${minutes} minutes`;
  return new Problem('too_many', {
    sentence: `Too many attempts. Try again in ${waitSeconds < 60 ? `${waitSeconds} seconds` : long}.`,
    retryAfterSeconds: waitSeconds,
  });
}
