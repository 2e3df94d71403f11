/** Times as people and tools write them. */
import { failure } from './text.ts';
import type { Failure } from './text.ts';

/** A date, or a date and a time with a zone. A `+` that arrived as a space is read as `+`. */
const instantForm =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,12}))? ?(?:[Zz]|UTC|([+ -])(\d\d)(?::?(\d\d))?))?$/;

/**
 * RFC 3339 with a zone, or `YYYY-MM-DD` for 00:00 UTC → `YYYY-MM-DDTHH:MM:SS.mmmZ`. Also accepts what other programs
 * print: a space for the `T`, ` UTC`, `+0000`, `+00`. A leap second is the first moment of the next day. Times are
 * stored to the millisecond, so rounding up a finer bound does not change the results of ≥ and <.
 */
export function parseInstant(value: string): string | undefined {
  const match = instantForm.exec(value);
  if (!match) return undefined;
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = ''] = match;
  const [sign, zoneHour = '00', zoneMinute = '00'] = match.slice(8);
  if (Number(zoneHour) > 23 || Number(zoneMinute) > 59) return undefined;
  const isLeap = second === '60';
  const clock = `${year}-${month}-${day}T${hour}:${minute}:${isLeap ? '59' : second}`;
  const wall = Date.parse(`${clock}.000Z`);
  // Date.parse rolls February 30 over to March: a date that does not round-trip does not exist.
  if (Number.isNaN(wall) || new Date(wall).toISOString().slice(0, 19) !== clock) return undefined;
  const offset = (Number(zoneHour) * 60 + Number(zoneMinute)) * 60_000 * (sign === '-' ? -1 : 1);
  if (isLeap) return leapSecond(wall - offset);
  const time = wall - offset + Number(fraction.slice(0, 3).padEnd(3, '0'));
  const finer = /[1-9]/.test(fraction.slice(3)) ? 1 : 0;
  // Other programs print "no end" as the last microsecond of the year 9999, which cannot be rounded up.
  return printed(time + finer) ?? printed(time);
}

/** Leap seconds are inserted only at the end of a day in UTC. */
const leapSecond = (before: number) => (/T23:59:59/.test(printed(before) ?? '') ? printed(before + 1000) : undefined);

function printed(time: number): string | undefined {
  const instant = new Date(time).toISOString();
  return instant.length === 24 && !instant.startsWith('0000') ? instant : undefined;
}

const withoutZone = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/;

/** The error for what is not a time. */
export function notAnInstant(value: unknown): Failure {
  const text = typeof value === 'string' ? value.trim() : '';
  return failure('invalid_type', whatIsWrong(text), value);
}

function whatIsWrong(text: string): string {
  if (withoutZone.test(text)) return 'must have a time zone, as in 2026-03-01T09:30:00Z or 2026-03-01T09:30:00+02:00';
  if (instantForm.test(text)) return `must be a ${text.length === 10 ? 'date' : 'time'} that exists`;
  return 'must be a valid time such as 2026-03-01T09:30:00Z, or a date such as 2026-03-01';
}
