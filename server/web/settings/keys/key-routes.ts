/** The API Keys page and its forms. */
import type { Router } from 'express';
import type { ApiKey } from '../../../entities/organization.ts';
import { issueKey, parseExpiry, replaceKey, replacementPeriods } from '../../../keys/issue.ts';
import type { ReplacementPeriod } from '../../../keys/issue.ts';
import { findKey, isLive, readKeyOverview } from '../../../keys/list.ts';
import { renameKey, revokeKey } from '../../../keys/revoke.ts';
import { fieldOf, isSettingsProblem, Problem } from '../../../problems/problem.ts';
import { publicId, storedId } from '../../../records/public-id.ts';
import { readActivity } from '../activity/activity-section.ts';
import type { SettingsContext } from '../context.ts';
import { field } from '../fields.ts';
import { renamePage, replacePage, revokePage } from './key-pages.ts';
import { warningsFor } from './key-warnings.ts';
import { keysPage } from './keys-page.ts';
import type { KeysView } from './keys-page.ts';
import { sendPage } from '../page.ts';
import type { Page, Signed } from '../page.ts';
import type { Change, Visit } from '../session-guard.ts';
import { idIn, orProblem, requireAdminVisit } from '../visit.ts';

const keysPath = '/settings/api-keys';

export function keyRoutes(router: Router, { guard }: SettingsContext): void {
  router.get(
    '/api-keys',
    guard.page((visit) => show(visit, {})),
  );
  router.post('/api-keys', guard.change('key_created', create));
  router.get('/api-keys/:id/rename', guard.page(keyPage(renamePage)));
  router.post('/api-keys/:id/rename', guard.change('key_renamed', rename));
  router.get('/api-keys/:id/replace', guard.page(keyPage(replacePage)));
  router.post('/api-keys/:id/replace', guard.change('key_replaced', replace));
  router.get('/api-keys/:id/revoke', guard.page(keyPage(revokePage)));
  router.post('/api-keys/:id/revoke', guard.change('key_revoked', revoke));
}

async function show(visit: Visit, view: Partial<KeysView>, status = 200): Promise<void> {
  const { visitor, request, response, signed, csrfToken, context } = visit;
  const em = visitor.em.fork();
  const overview = await readKeyOverview(em);
  const done = whatWasDone(request.query, [...overview.live, ...overview.ended]);
  const activity = await readActivity(em, visitor.member);
  const warnings = await warningsFor(visit);
  const page = { signed, overview, activity, warnings, baseUrl: context.baseUrl(), csrfToken, done, ...view };
  sendPage(response, keysPage(page), status);
}

/** The page of one live key; without it, back to the list. */
const keyPage =
  (print: (view: { signed: Signed; key: ApiKey; token: string }) => Page) =>
  async (visit: Visit): Promise<void> => {
    const { visitor, response, signed, csrfToken } = visit;
    requireAdminVisit(visit, 'rename, replace and revoke API keys');
    const key = await findKey(visitor.em, idIn(visit, 'key'));
    if (!isLive(key)) return response.redirect(303, keysPath);
    sendPage(response, print({ signed, key, token: csrfToken() }));
  };

async function create(change: Change): Promise<void> {
  const { visitor, request, csrfTokenId } = change;
  const typedName = field(request.body, 'name');
  const wanted = { name: typedName, csrfTokenId, expiresInMs: parseExpiry(field(request.body, 'expires')) };
  const created = await orProblem(issueKey(visitor.em, visitor.member, wanted));
  if (isSettingsProblem(created)) return show(change, { failure: { problem: created, typedName } }, created.status);
  const { key, raw } = created;
  const { live } = await readKeyOverview(visitor.em.fork());
  const nameIsTaken = live.some(({ id, name }) => id !== key.id && name === key.name);
  await show(change, { created: { name: key.name, raw, nameIsTaken } }, 201);
}

async function rename(change: Change): Promise<void> {
  const { visitor, request, response, signed, csrfToken, context } = change;
  const typedName = field(request.body, 'name');
  const id = idIn(change, 'key');
  const renamed = await orProblem(renameKey(visitor.em, visitor.member, id, typedName));
  if (isSettingsProblem(renamed)) {
    if (fieldOf(renamed) !== 'name') throw renamed;
    const key = await findKey(visitor.em, id);
    const failure = { sentence: renamed.message, typedName };
    return sendPage(response, renamePage({ signed, key, token: csrfToken(), failure }), renamed.status);
  }
  context.keys.forget();
  response.redirect(303, `${keysPath}?renamed=${publicId('key', renamed.id)}`);
}

async function replace(change: Change): Promise<void> {
  const { visitor, request, csrfTokenId, context } = change;
  const wanted = { id: idIn(change, 'key'), period: periodIn(request.body), csrfTokenId };
  const { key, raw, replaced } = await replaceKey(visitor.em, visitor.member, wanted);
  context.keys.forget();
  await show(change, { created: { name: key.name, raw, oldKeyEndsAt: replaced.endsAt } }, 201);
}

async function revoke(change: Change): Promise<void> {
  const { visitor, response, context } = change;
  const key = await revokeKey(visitor.em, visitor.member, idIn(change, 'key'));
  context.keys.forget();
  response.redirect(303, `${keysPath}?revoked=${publicId('key', key.id)}`);
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
  if (revoked?.revokedAt) return `“${revoked.name}” has been revoked. Requests that use it are now rejected.`;
  if (renamed) return `The key is now named “${renamed.name}”.`;
  return undefined;
}
