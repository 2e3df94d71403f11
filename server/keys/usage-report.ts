/** An organization's usage of the API, as the settings show it. */
import { queryIn } from '../database/tenant.ts';
import type { ScopedEntityManager } from '../database/tenant.ts';
import { FailedRequest, outcomes } from '../entities/usage.ts';
import type { Outcome } from '../entities/usage.ts';
import { usageBounds } from './usage.ts';

export const reportedDays = 30;

export type Tally = Record<Outcome, number>;
export type UsageReport = Awaited<ReturnType<typeof readUsage>>;

const text = `select to_char(day, 'YYYY-MM-DD') as day, operation, key_id as "keyId", outcome, sum(requests)::float8 as requests
  from usage_counts where organization_id = ? and day > ?::date - ${reportedDays} and key_id = coalesce(?, key_id)
  group by grouping sets ((day, outcome), (operation, outcome), (key_id, outcome))`;

type Sum = { day: string | null; operation: string | null; keyId: string | null; outcome: Outcome; requests: number };

/** For the whole organization, or for one of its keys. */
export async function readUsage(
  em: ScopedEntityManager,
  { keyId, nowMs = Date.now() }: { keyId?: string; nowMs?: number } = {},
) {
  const today = new Date(nowMs).toISOString().slice(0, 10);
  const rows = await queryIn<Sum>(em, text, [today, keyId ?? null]);
  const byDay = tallyBy(rows, 'day');
  const total = emptyTally();
  for (const { day, outcome, requests } of rows) if (day !== null) total[outcome] += requests;
  const days = Array.from({ length: reportedDays }, (_, index) => {
    const day = new Date(Date.parse(today) - (reportedDays - 1 - index) * 86_400_000).toISOString().slice(0, 10);
    return { day, tally: byDay.get(day) ?? emptyTally() };
  });
  const ranked = (name: 'operation' | 'keyId') =>
    [...tallyBy(rows, name)].toSorted(([, one], [, other]) => sum(other) - sum(one));
  return {
    /** The last 30 days, oldest first, including days without requests. */
    days,
    /** Most used first, as keys are. */
    operations: ranked('operation').map(([operation, tally]) => ({ operation, tally })),
    /** Empty for the report of one key. */
    keys: keyId === undefined ? ranked('keyId').map(([id, tally]) => ({ keyId: id, tally })) : [],
    total,
  };
}

export const sum = (tally: Tally): number => outcomes.reduce((total, outcome) => total + tally[outcome], 0);

const emptyTally = (): Tally => ({ success: 0, client_error: 0, rate_limited: 0, server_error: 0 });

function tallyBy(rows: readonly Sum[], name: 'day' | 'operation' | 'keyId'): Map<string, Tally> {
  const tallies = new Map<string, Tally>();
  for (const row of rows) {
    const value = row[name];
    if (value === null) continue;
    const tally = tallies.get(value) ?? emptyTally();
    tally[row.outcome] += row.requests;
    tallies.set(value, tally);
  }
  return tallies;
}

/** The requests of each key since the start of yesterday, UTC. */
export async function readRecentTallies(em: ScopedEntityManager, nowMs: number): Promise<Map<string, Tally>> {
  const yesterday = new Date(nowMs - 86_400_000).toISOString().slice(0, 10);
  const recent = `select key_id as "keyId", outcome, sum(requests)::float8 as requests from usage_counts
    where organization_id = ? and day >= ?::date group by key_id, outcome`;
  return tallyBy(await queryIn<Sum>(em, recent, [yesterday]), 'keyId');
}

/** The latest failed requests of a key, or of all, newest first. */
export function readFailures(em: ScopedEntityManager, keyId?: string): Promise<FailedRequest[]> {
  const where = keyId === undefined ? {} : { keyId };
  const limit = usageBounds.storedFailures;
  return em.find(FailedRequest, where, { orderBy: { createdAt: 'desc', id: 'desc' }, limit });
}

/** Failures that are alike: the latest, their number, and the time of the first. */
export type FailureGroup = { latest: FailedRequest; count: number; firstAt: string };

/** `failures`: newest first. */
export function groupFailures(failures: readonly FailedRequest[]): FailureGroup[] {
  const groups = new Map<string, FailureGroup>();
  for (const latest of failures) {
    const { keyId, operation, status, code, fields, createdAt } = latest;
    const likeness = JSON.stringify([keyId, operation, status, code, fields]);
    const group = groups.get(likeness) ?? { latest, count: 0, firstAt: createdAt };
    groups.set(likeness, { ...group, count: group.count + 1, firstAt: createdAt });
  }
  return [...groups.values()];
}
