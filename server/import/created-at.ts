/** When a row says that its record was created, which must not be later than now. Times are as the API prints them. */
import type { Keyed, Rejection } from './kind.ts';

/** East of Greenwich, a date begins up to 14 hours before it does in UTC. */
const earliestDateMs = 14 * 3_600_000;

export const isLater = (time: unknown, than: string): time is string => typeof time === 'string' && time > than;

/** Who reads what is new would meet such a record a second time. */
export const createdLater: Rejection = {
  field: 'createdAt',
  code: 'out_of_range',
  message: 'must not be in the future',
};

/**
 * The row without a `createdAt` that is a date which has begun somewhere, but not yet in UTC, where it is read as midnight:
 * a new record is created now, and a stored one keeps its time.
 */
export function withoutDateOfToday(row: Keyed, now: string): Keyed {
  if (!('createdAt' in row) || !isLater(row.createdAt, now) || !row.createdAt.endsWith('T00:00:00.000Z')) return row;
  const { createdAt, ...rest } = row;
  return Date.parse(createdAt) - Date.parse(now) <= earliestDateMs ? rest : row;
}
