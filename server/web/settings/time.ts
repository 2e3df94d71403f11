/** Times as people say them: "3 minutes ago", "4 Mar 2026"; the exact time is in the tooltip. */
import { html } from '../html.ts';

const units = [
  [60, 'minute'],
  [3600, 'hour'],
  [86_400, 'day'],
] as const;

const relative = new Intl.RelativeTimeFormat('en');
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });

/** How long ago, within the last month; otherwise the day. */
export function ago(at: string, nowMs = Date.now()): string {
  // The database's clock may be a little ahead of this one.
  const seconds = Math.max(0, (nowMs - Date.parse(at)) / 1000);
  if (seconds < 60) return 'just now';
  if (seconds >= 30 * 86_400) return dayOf(at);
  const [size, name] = units.findLast(([unit]) => seconds >= unit) ?? units[0];
  return relative.format(-Math.floor(seconds / size), name);
}

export const dayOf = (at: string): string => day.format(new Date(at));

/** `at` is a time with any offset. */
function timed(at: string, text: string) {
  const exact = new Date(at).toISOString();
  return html`<time datetime="${exact}" title="${exact.slice(0, 10)} ${exact.slice(11, 19)} UTC">${text}</time>`;
}

export const timeAgo = (at: string) => timed(at, ago(at));
export const timeDay = (at: string) => timed(at, dayOf(at));

const minute = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

/** `4 Mar 2026, 14:05 UTC`: for future times. */
export const timeUntil = (at: string) => timed(at, `${minute.format(new Date(at))} UTC`);
