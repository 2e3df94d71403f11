import { afterAll, expect, test, vi } from 'vitest';
import { createBackground } from '../../server/database/background.ts';

afterAll(() => void vi.useRealTimers());

test('a job that takes longer than its interval does not overlap with itself, and one that fails runs again', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const failures: unknown[] = [];
  const background = createBackground((error) => failures.push(error));
  const runs: PromiseWithResolvers<void>[] = [];
  background.every(1_000, () => {
    const run = Promise.withResolvers<void>();
    runs.push(run);
    return run.promise;
  });
  vi.advanceTimersByTime(3_000);
  expect(runs).toHaveLength(1);
  runs[0]?.reject('away');
  await vi.waitFor(() => expect(failures).toEqual(['away']));
  vi.advanceTimersByTime(3_000);
  expect(runs).toHaveLength(2);
  // Closing waits for the job, and nothing else starts.
  let isClosed = false;
  const closing = background.close().then(() => (isClosed = true));
  background.start(() => Promise.reject(new Error('late')));
  await new Promise(setImmediate);
  expect(isClosed).toBe(false);
  runs[1]?.resolve();
  await closing;
  expect([failures, vi.getTimerCount()]).toEqual([['away'], 0]);
});
