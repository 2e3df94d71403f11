/** When failed deliveries are retried, and when they are given up. */

const minute = 60;
const hour = 60 * minute;
/** Seconds after the first, second … attempt; the last one repeats. */
const pauses = [5, minute, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 12 * hour];
export const retryDays = 3;
/** An endpoint that fails for this long is switched off. */
export const failingDays = 5;
/** Undelivered events can be resent for this long. */
export const logDays = 30;
const longestRetryAfter = 24 * hour;

/** Seconds until the next attempt of a delivery: up to 5% more or less, so those that failed together are not retried together. */
export function pauseAfter(attempts: number, retryAfterSeconds: number | null, random = Math.random()): number {
  const pause = (pauses[Math.min(attempts, pauses.length) - 1] ?? 0) * (0.95 + random / 10);
  return Math.max(pause, Math.min(retryAfterSeconds ?? 0, longestRetryAfter));
}

/** Seconds until an endpoint is tried again after a round in which every attempt failed, no matter what is due. */
export const endpointPause = (failures: number, retryAfterSeconds: number | null): number =>
  Math.max(Math.min(2 ** failures, 5 * minute), Math.min(retryAfterSeconds ?? 0, longestRetryAfter));
