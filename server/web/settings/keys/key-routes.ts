/** The API Keys page and its forms. */
import type { ApiKey } from '../../../entities/organization.ts';
import { issueKey, parseExpiry, replaceKey } from '../../../keys/issue.ts';
import { findKey, isLive, readKeyOverview } from '../../../keys/list.ts';
import { renameKey, revokeKey } from '../../../keys/revoke.ts';
import { publicId, storedId } from '../../../records/public-id.ts';
import { activitySection } from '../activity/activity-section.ts';
import { choiceIn, field } from '../fields.ts';
import type { Rejected } from '../fields.ts';
import type { Page } from '../page.ts';
import type { SessionGuard } from '../session-guard.ts';
import { idIn, requireAdminVisit } from '../visit.ts';
import type { Change, Visit } from '../visit.ts';
import { periods, renamePage, replacePage, revokePage, warningsFor } from './key-pages.ts';
import { keysPage } from './keys-page.ts';
import type { KeysView } from './keys-page.ts';

const keysPath = '/settings/api-keys';

export function keyRoutes(guard: SessionGuard): void {
  guard.form('/api-keys', {
    action: 'key_created',
    show: (visit, rejected) => show(visit, { rejected }),
    submit: create,
    isSolvable: () => true,
  });
  guard.form('/api-keys/:id/rename', { action: 'key_renamed', show: liveKeyPage(renamePage), submit: rename });
  guard.form('/api-keys/:id/replace', { action: 'key_replaced', show: liveKeyPage(replacePage), submit: replace });
  guard.form('/api-keys/:id/revoke', { action: 'key_revoked', show: liveKeyPage(revokePage), submit: revoke });
}

async function show(visit: Visit, view: Partial<KeysView>): Promise<Page> {
  const em = visit.em.fork();
  const overview = await readKeyOverview(em);
  const done = whatWasDone(visit.request.query, [...overview.live, ...overview.ended]);
  const activity = await activitySection(em, visit.member);
  const warnings = await warningsFor(visit);
  return keysPage(visit, { overview, activity, warnings, done, ...view });
}

/** A page about a live key; for any other key, back to the list. */
const liveKeyPage =
  (print: (visit: Visit, key: ApiKey, rejected?: Rejected) => Page) =>
  async (visit: Visit, rejected?: Rejected): Promise<Page | string> => {
    requireAdminVisit(visit, 'rename, replace and revoke API keys');
    const key = await findKey(visit.em, idIn(visit, 'key'));
    return isLive(key) ? print(visit, key, rejected) : keysPath;
  };

async function create(change: Change): Promise<Page> {
  const { em, member, request, csrfTokenId } = change;
  const expiresInMs = parseExpiry(field(request.body, 'expires'));
  const { key, raw } = await issueKey(em, member, { name: field(request.body, 'name'), csrfTokenId, expiresInMs });
  return show(change, { created: { name: key.name, raw } });
}

async function rename(change: Change): Promise<string> {
  const { em, member, request, context } = change;
  const renamed = await renameKey(em, member, idIn(change, 'key'), field(request.body, 'name'));
  context.keys.forget();
  return `${keysPath}?renamed=${publicId('key', renamed.id)}`;
}

async function replace(change: Change): Promise<Page> {
  const { em, member, request, csrfTokenId, context } = change;
  const period = choiceIn(request.body, 'period', periods, 'Choose how long the old key should keep working.');
  const wanted = { id: idIn(change, 'key'), period, csrfTokenId };
  const { key, raw, replaced } = await replaceKey(em, member, wanted);
  context.keys.forget();
  return show(change, { created: { name: key.name, raw, oldKeyEndsAt: replaced.endsAt } });
}

async function revoke(change: Change): Promise<string> {
  const key = await revokeKey(change.em, change.member, idIn(change, 'key'));
  change.context.keys.forget();
  return `${keysPath}?revoked=${publicId('key', key.id)}`;
}

/** The URL contains only the action and the key's id; the sentence is built here. */
function whatWasDone(query: unknown, known: ApiKey[]): string | undefined {
  const named = (name: string) => known.find(({ id }) => id === storedId('key', field(query, name)));
  const [renamed, revoked] = [named('renamed'), named('revoked')];
  if (revoked?.revokedAt) return `“${revoked.name}” has been revoked. Requests that use it are now rejected.`;
  if (renamed) return `The key is now named “${renamed.name}”.`;
  return undefined;
}
