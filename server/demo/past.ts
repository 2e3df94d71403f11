/** Moments of the demo's past, in milliseconds; all of them count back from now. */
import type { Dice } from './dice.ts';

export const dayMs = 86_400_000;
const minuteMs = 60_000;

/** A morning, so many days ago (1 and more): what follows within hours is still the same day. */
export function morning(nowMs: number, daysAgo: number, dice: Dice): number {
  const midnight = nowMs - (nowMs % dayMs);
  return midnight - daysAgo * dayMs + dice.between(7 * 60 * minuteMs, 13 * 60 * minuteMs);
}

/** After `ms`, by minutes or hours, and by up to so many days. */
export function later(ms: number, days: number, dice: Dice): number {
  return ms + dice.between(0, days) * dayMs + dice.between(5 * minuteMs, 180 * minuteMs);
}

/** When a record that was made at `createdMs` last changed: often never since. */
export function lastChange(createdMs: number, nowMs: number, dice: Dice): number {
  const share = dice.between(5, 90);
  return dice.chance(55) ? createdMs : createdMs + Math.floor(((nowMs - createdMs) * share) / 100);
}

export const timestamp = (ms: number): string => new Date(ms).toISOString();
