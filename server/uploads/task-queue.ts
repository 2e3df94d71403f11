/**
 * Limits how many tasks run at once. All but one of them may be long, so a short task never waits for long ones only. Of
 * the tasks that may start, the organization that used the least time goes first; an hour after its last task,
 * its use is forgotten.
 */

type Waiting = { organizationId: string; isLong: boolean; start: () => void };
type RunTask = <T>(organizationId: string, isLong: boolean, work: () => Promise<T>) => Promise<T>;
const forgottenAfterMs = 3_600_000;

export function createTaskQueue(most: number, clock: () => number = () => performance.now()): RunTask {
  const waiting: Waiting[] = [];
  const used = new Map<string, { ms: number; atMs: number }>();
  const running = { all: 0, long: 0 };

  const usedBy = ({ organizationId }: Pick<Waiting, 'organizationId'>) => used.get(organizationId)?.ms ?? 0;
  const fits = ({ isLong }: Waiting) => running.all < most && (!isLong || running.long < most - 1);

  function startNext(): void {
    // Ties keep the order in which they arrived.
    const [first] = waiting.filter(fits).toSorted((left, right) => usedBy(left) - usedBy(right));
    if (!first) return;
    waiting.splice(waiting.indexOf(first), 1);
    running.all += 1;
    running.long += Number(first.isLong);
    first.start();
  }

  return async (organizationId, isLong, work) => {
    await new Promise<void>((start) => {
      waiting.push({ organizationId, isLong, start });
      startNext();
    });
    const startedMs = clock();
    try {
      return await work();
    } finally {
      const nowMs = clock();
      for (const [id, { atMs }] of used) if (nowMs - atMs > forgottenAfterMs) used.delete(id);
      used.set(organizationId, { ms: usedBy({ organizationId }) + nowMs - startedMs, atMs: nowMs });
      running.all -= 1;
      running.long -= Number(isLong);
      startNext();
    }
  };
}

/** The time limit was reached. */
export class OutOfTime extends Error {}

/**
 * Runs work as short, with a time limit. If it runs out of time, it starts over as long, so it must have changed nothing.
 * `onShort` is called if it was short.
 */
export async function runShortFirst<T>(
  run: RunTask,
  organizationId: string,
  work: (isLong: boolean) => Promise<T>,
  onShort: () => void,
): Promise<T> {
  try {
    const done = await run(organizationId, false, () => work(false));
    onShort();
    return done;
  } catch (error) {
    if (!(error instanceof OutOfTime)) throw error;
    return run(organizationId, true, () => work(true));
  }
}
