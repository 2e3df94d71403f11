/** The API Keys page and its forms. */
import type { Router } from 'express';
import type { ApiKey } from '../../entities/organization.ts';
import { issueKey, replaceKey, replacementPeriods } from '../../keys/issue.ts';
import type { ReplacementPeriod } from '../../keys/issue.ts';
import { findKey, isLive, readKeyOverview } from '../../keys/list.ts';
import { renameKey, revokeKey } from '../../keys/revoke.ts';
import { fieldOf, isSettingsProblem, Problem } from '../../problems/problem.ts';
import type { SettingsProblem } from '../../problems/problem.ts';
import { publicId, storedId } from '../../records/public-id.ts';
import { readActivity } from './activity.ts';
import type { SettingsContext } from './context.ts';
import { pageNotFound } from './error-page.ts';
import { field } from './fields.ts';
import { renamePage, replacePage, revokePage } from './key-pages.ts';
import { keysPage } from './keys-page.ts';
import type { KeysView } from './keys-page.ts';
import { sendPage } from './page.ts';
import type { Page, Signed } from './page.ts';
import { homePath } from './session-guard.ts';
import type { Change, Visit } from './session-guard.ts';
import { signedOf } from './signed.ts';

export function keyRoutes(router: Router, { guard, keys, baseUrl }: SettingsContext): void {
  async function show(visit: Visit, view: Partial<KeysView>, status = 200): Promise<void> {
    const { visitor, request, response, csrfToken } = visit;
    const em = visitor.em.fork();
    const overview = await readKeyOverview(em);
    const done = whatWasDone(request.query, [...overview.live, ...overview.ended]);
    const activity = await readActivity(em, visitor.member);
    const page = { signed: signedOf(visit), overview, activity, baseUrl: baseUrl(), csrfToken, done, ...view };
    sendPage(response, keysPage(page), status);
  }

  /** The page of one live key; without it, back to the list. */
  const keyPage = (print: (view: { signed: Signed; key: ApiKey; token: string }) => Page) =>
    guard.page(async (visit) => {
      const { visitor, request, response, csrfToken } = visit;
      if (visitor.member.role !== 'admin')
        throw new Problem('role', {
          sentence: 'Only admins of the organization can rename, replace and revoke API keys.',
        });
      const key = await findKey(visitor.em, keyIdIn(request.params));
      if (!isLive(key)) return response.redirect(303, homePath);
      sendPage(response, print({ signed: signedOf(visit), key, token: csrfToken() }));
    });

  router.get(
    '/api-keys',
    guard.page((visit) => show(visit, {})),
  );

  router.post(
    '/api-keys',
    guard.change('key_created', async (change) => {
      const { visitor, request, csrfTokenId } = change;
      const typedName = field(request.body, 'name');
      const created = await orProblem(issueKey(visitor.em, visitor.member, typedName, csrfTokenId));
      if (isSettingsProblem(created)) return show(change, { failure: { problem: created, typedName } }, created.status);
      const { key, raw } = created;
      const { live } = await readKeyOverview(visitor.em.fork());
      const nameIsTaken = live.some(({ id, name }) => id !== key.id && name === key.name);
      await show(change, { created: { name: key.name, raw, nameIsTaken } }, 201);
    }),
  );

  router.get('/api-keys/:id/rename', keyPage(renamePage));
  router.post('/api-keys/:id/rename', guard.change('key_renamed', rename));
  async function rename(change: Change): Promise<void> {
    const { visitor, request, response, csrfToken } = change;
    const typedName = field(request.body, 'name');
    const id = keyIdIn(request.params);
    const renamed = await orProblem(renameKey(visitor.em, visitor.member, id, typedName));
    if (isSettingsProblem(renamed)) {
      if (fieldOf(renamed) !== 'name') throw renamed;
      const key = await findKey(visitor.em, id);
      const failure = { sentence: renamed.message, typedName };
      const page = renamePage({ signed: signedOf(change), key, token: csrfToken(), failure });
      return sendPage(response, page, renamed.status);
    }
    keys.forget();
    response.redirect(303, `${homePath}?renamed=${publicId('key', renamed.id)}`);
  }

  router.get('/api-keys/:id/replace', keyPage(replacePage));
  router.post('/api-keys/:id/replace', guard.change('key_replaced', replace));
  async function replace(change: Change): Promise<void> {
    const { visitor, request, csrfTokenId } = change;
    const wanted = { id: keyIdIn(request.params), period: periodIn(request.body), csrfTokenId };
    const { key, raw, replaced } = await replaceKey(visitor.em, visitor.member, wanted);
    keys.forget();
    await show(change, { created: { name: key.name, raw, oldKeyEndsAt: replaced.endsAt } }, 201);
  }

  router.get('/api-keys/:id/revoke', keyPage(revokePage));
  router.post(
    '/api-keys/:id/revoke',
    guard.change('key_revoked', async ({ visitor, request, response }) => {
      const key = await revokeKey(visitor.em, visitor.member, keyIdIn(request.params));
      keys.forget();
      response.redirect(303, `${homePath}?revoked=${publicId('key', key.id)}`);
    }),
  );
}

export function keyIdIn(params: { id?: string }): string {
  const id = storedId('key', params.id ?? '');
  if (id === undefined) throw pageNotFound();
  return id;
}

function periodIn(body: unknown): ReplacementPeriod {
  const typed = field(body, 'period');
  const isKnown = (name: string): name is ReplacementPeriod => Object.hasOwn(replacementPeriods, name);
  if (!isKnown(typed)) throw new Problem('invalid', { sentence: 'Choose how long the old key should keep working.' });
  return typed;
}

/** The URL contains only the action and the key's id; the sentence is built here. */
function whatWasDone(query: unknown, known: ApiKey[]): string | undefined {
  const named = (name: string) => known.find(({ id }) => id === storedId('key', field(query, name)));
  const [renamed, revoked] = [named('renamed'), named('revoked')];
  if (revoked?.revokedAt) return `“${revoked.name}” is revoked. Every request with it is now rejected.`;
  if (renamed) return `The key is now named “${renamed.name}”.`;
  return undefined;
}

async function orProblem<T>(work: Promise<T>): Promise<T | SettingsProblem> {
  try {
    return await work;
  } catch (error) {
    if (isSettingsProblem(error)) return error;
    throw error;
  }
}
