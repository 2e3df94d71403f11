/** Tells a hanging peer from a pause of our own. */

/**
 * Calls `end` if nothing is heard for `limit` ticks. While this process itself is busy or frozen, such as with its machine,
 * nothing can be heard: no matter how late a tick comes, it is one tick.
 */
export function watchSilence(limit: number, end: () => unknown, tickMs = 1_000) {
  let ticks = 0;
  const timer = setInterval(() => {
    ticks += 1;
    if (ticks === limit) end();
  }, tickMs);
  return { heard: () => void (ticks = 0), close: () => clearInterval(timer) };
}
