/** Keys that need an admin's attention: the reason, in a sentence, and when admins were last mailed about it. */
import { rateLimit } from '../../contract/limits.ts';
import type { ScopedEntityManager } from '../database/tenant.ts';
import { ApiKey } from '../entities/organization.ts';
import { KeyWarning } from '../entities/usage.ts';
import type { WarningCause } from '../entities/usage.ts';
import { endOf, isLive, liveKeys, lockKey, newestFirst } from './list.ts';
import { readRecentTallies } from './usage-report.ts';
import type { Tally } from './usage-report.ts';

export type Warning = { key: ApiKey; cause: WarningCause; sentence: string };

const dayMs = 86_400_000;

export const warningBounds = {
  /** Fewer requests say little. */
  leastRequests: 20,
  unusedDays: 90,
  /** Before a key expires. */
  expiringDays: 14,
  /** After a key has ended: uses just before its end are recorded shortly after it. */
  graceMs: 60_000,
};

/** Days until admins are mailed about the same key and cause again. */
export const mailedAgainDays: Readonly<Record<WarningCause, number>> = {
  failing: 7,
  ended: 7,
  limited: 7,
  unused: 90,
  expiring: 30,
};

type Facts = { nowMs: number; tally: Tally | undefined; limitedAt: string | null | undefined };

/** For an organization on the Team plan; newest keys first. `nowMs` is by the clock of the database, as all times of keys. */
export async function readWarnings(em: ScopedEntityManager, nowMs: number): Promise<Warning[]> {
  const recently = new Date(nowMs - dayMs).toISOString();
  const keys = await em.find(
    ApiKey,
    { $or: [liveKeys(), { lastUsedAt: { $gte: recently } }] },
    { orderBy: newestFirst },
  );
  const tallies = await readRecentTallies(em, nowMs);
  const limited = await em.find(KeyWarning, { cause: 'limited', seenAt: { $gte: recently } });
  const limitedAt = new Map(limited.map(({ keyId, seenAt }) => [keyId, seenAt]));
  return keys.flatMap((key) => {
    const facts = { nowMs, tally: tallies.get(key.id), limitedAt: limitedAt.get(key.id) };
    const found = isLive(key) ? liveKeySentences(key, facts) : endedKeySentences(key, nowMs);
    return Object.entries(found).flatMap(([cause, sentence]) =>
      // The keys of `found` are causes.
      sentence === undefined ? [] : [{ key, cause: cause as WarningCause, sentence: `“${key.name}” ${sentence}` }],
    );
  });
}

type Sentences = Partial<Record<WarningCause, string | undefined>>;

function liveKeySentences({ createdAt, lastUsedAt, endsAt, replacedBy }: ApiKey, facts: Facts): Sentences {
  const { nowMs, tally, limitedAt } = facts;
  const { unusedDays, expiringDays } = warningBounds;
  const isUnused = Date.parse(lastUsedAt ?? createdAt) < nowMs - unusedDays * dayMs;
  // An admin who replaced a key knows that it will end.
  const isExpiring =
    endsAt !== null && replacedBy === null && Date.parse(endsAt) < nowMs + expiringDays * dayMs && !isUnused;
  return {
    failing: tally && failing(tally),
    limited: limitedAt
      ? `was at its limit of ${rateLimit.limit} requests a minute for several minutes. Make its tool call less often, or give each tool its own key.`
      : undefined,
    unused: isUnused ? `has not been used for ${unusedDays} days. Revoke it if no tool needs it.` : undefined,
    expiring: isExpiring
      ? `stops working on ${endsAt.slice(0, 10)} at ${endsAt.slice(11, 16)} UTC. Replace it before then, so that its tool keeps working.`
      : undefined,
  };
}

/** Requests over the limit are a separate cause. */
function failing({ success, client_error: rejected, server_error: failed }: Tally): string | undefined {
  const failures = rejected + failed;
  const all = success + failures;
  if (all < warningBounds.leastRequests || failures <= success) return undefined;
  return `fails more than it succeeds: ${failures} of ${all} requests since yesterday. Its page says why.`;
}

const ends = { Revoked: 'was revoked', Expired: 'has expired', Replaced: 'was replaced' };

function endedKeySentences(key: ApiKey, nowMs: number): Sentences {
  const { revokedAt, endsAt, lastUsedAt } = key;
  const endedMs = Date.parse(revokedAt ?? endsAt ?? '');
  const usedMs = Date.parse(lastUsedAt ?? '');
  if (!(usedMs > endedMs + warningBounds.graceMs && usedMs > nowMs - dayMs)) return {};
  return { ended: `${ends[endOf(key)]}, but a tool still uses it. Give that tool another key, or switch it off.` };
}

/** Returns the warnings that were not mailed lately, and marks them as mailed, so only one process sends them. */
export async function claimWarnings(em: ScopedEntityManager, warnings: readonly Warning[], nowMs: number) {
  const isTold = ({ mailedAt }: KeyWarning, cause: WarningCause) =>
    // A time in the far future is from a clock that was wrong.
    mailedAt !== null && Math.abs(nowMs - Date.parse(mailedAt)) < mailedAgainDays[cause] * dayMs;
  const known = await em.find(KeyWarning, { keyId: { $in: warnings.map(({ key }) => key.id) } });
  const open = warnings.filter(
    ({ key, cause }) => !known.some((one) => one.keyId === key.id && one.cause === cause && isTold(one, cause)),
  );
  if (open.length === 0) return [];
  return em.fork().transactional(async (inner) => {
    const claimed: Warning[] = [];
    // In the same order in every process, because each locks the keys.
    for (const warning of open.toSorted((one, other) => (one.key.id < other.key.id ? -1 : 1))) {
      const { cause, key } = warning;
      await lockKey(inner, key.id);
      const stored = await inner.findOne(KeyWarning, { keyId: key.id, cause });
      if (stored && isTold(stored, cause)) continue;
      const told = stored ?? inner.create(KeyWarning, { keyId: key.id, cause });
      told.mailedAt = new Date(nowMs).toISOString();
      claimed.push(warning);
    }
    return claimed;
  });
}

/** No mail was sent after all: the next check tries again. */
export async function releaseWarnings(em: ScopedEntityManager, warnings: readonly Warning[]): Promise<void> {
  for (const { key, cause } of warnings)
    await em.nativeUpdate(KeyWarning, { keyId: key.id, cause }, { mailedAt: null });
}
