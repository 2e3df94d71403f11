/**
 * Lets a few run at once, and fewer that may take long, so that a short one never waits for long ones. Of those that wait
 * and may start, the organization that has had the least of the last hour is next.
 */

/** `long`: how many of `all` may take long. */
type Most = { all: number; long: number };
type Waiting = { organizationId: string; isLong: boolean; start: () => void };
type Take = <T>(organizationId: string, isLong: boolean, work: () => Promise<T>) => Promise<T>;
const forgottenAfterMs = 3_600_000;

export function createTurns(most: Most, clock: () => number = () => performance.now()): Take {
  const waiting: Waiting[] = [];
  const used = new Map<string, { ms: number; atMs: number }>();
  const running = { all: 0, long: 0 };

  const usedBy = ({ organizationId }: Pick<Waiting, 'organizationId'>) => used.get(organizationId)?.ms ?? 0;
  const fits = ({ isLong }: Waiting) => running.all < most.all && (!isLong || running.long < most.long);

  function startNext(): void {
    // Equals keep the order in which they came.
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

/** The time is over. */
export class OutOfTime extends Error {}

/**
 * Short work whose time is limited: where it is over, the work starts over as long. It must have changed nothing. `onShort`
 * is told where it was short.
 */
export async function takeShort<T>(
  take: Take,
  organizationId: string,
  work: (isLong: boolean) => Promise<T>,
  onShort: () => void,
): Promise<T> {
  try {
    const done = await take(organizationId, false, () => work(false));
    onShort();
    return done;
  } catch (error) {
    if (!(error instanceof OutOfTime)) throw error;
    return take(organizationId, true, () => work(true));
  }
}
