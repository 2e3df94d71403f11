/**
 * Returns whether the time is over. By both clocks: `performance` is never set, but stands still while the machine sleeps,
 * after which `Date` is ahead.
 */
export function timeLimit(ms: number): () => boolean {
  const [endsAt, endsAtDate] = [performance.now() + ms, Date.now() + ms];
  return () => performance.now() >= endsAt || Date.now() >= endsAtDate;
}
