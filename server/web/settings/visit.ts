/** What the handlers of pages and forms have in common. */
import { Problem, isSettingsProblem } from '../../problems/problem.ts';
import type { SettingsProblem } from '../../problems/problem.ts';
import type { Kind } from '../../../contract/fields.ts';
import { storedId } from '../../records/public-id.ts';
import { adminsOnly } from '../../records/require-admin.ts';
import { pageNotFound } from './error-page.ts';
import type { Visit } from './session-guard.ts';

/** The stored id of the record that the path names. */
export function idIn({ request }: Pick<Visit, 'request'>, kind: Kind): string {
  const id = storedId(kind, request.params.id ?? '');
  if (id === undefined) throw pageNotFound();
  return id;
}

/** Before a page that only admins see. A form's own transaction asks again. */
export function requireAdminVisit({ visitor }: Pick<Visit, 'visitor'>, deed: string): void {
  if (visitor.member.role !== 'admin') throw adminsOnly(deed);
}

/** What the work returns, or the problem that its form shows. */
export async function orProblem<T>(work: Promise<T>): Promise<T | SettingsProblem> {
  try {
    return await work;
  } catch (error) {
    if (isSettingsProblem(error)) return error;
    throw error;
  }
}

/** The sentence for a word of the URL, which nobody else can choose. */
export const sentenceFor = (sentences: Readonly<Record<string, string>>, word: string): string | undefined =>
  Object.hasOwn(sentences, word) ? sentences[word] : undefined;

/** Throws if the caller has to wait. */
export function rejectTooMany(waitSeconds: number): void {
  if (waitSeconds > 0)
    throw new Problem('too_many', { sentence: tooMany(waitSeconds), retryAfterSeconds: waitSeconds });
}

export function tooMany(waitSeconds: number): string {
  if (waitSeconds < 60) return `Too many attempts. Try again in ${waitSeconds} seconds.`;
  const minutes = Math.ceil(waitSeconds / 60);
  return `Too many attempts. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`;
}
