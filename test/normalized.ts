/** How long the texts are that a test has normalized: a run of combining marks takes quadratic time. */
import { onTestFinished, vi } from 'vitest';

/** Takes seconds to normalize as a whole. */
export const marks = '\u0301\u0323'.repeat(60_000);

/** Returns the length of the longest text since, and how many there were. */
export function watchNormalized() {
  const normalize = vi.spyOn(String.prototype, 'normalize');
  onTestFinished(() => normalize.mockRestore());
  return {
    longest: (): number => Math.max(0, ...normalize.mock.contexts.map((text) => String(text).length)),
    count: (): number => normalize.mock.calls.length,
  };
}
