/** Lets a few run at once. Of those that wait, the organization that has had the least of the last hour is next. */

type Waiting = { organizationId: string; start: () => void };
const forgottenAfterMs = 3_600_000;

export function createTurns(most: number, clock: () => number = () => performance.now()) {
  const waiting: Waiting[] = [];
  const used = new Map<string, { ms: number; atMs: number }>();
  let running = 0;

  function usedBy({ organizationId }: Waiting): number {
    const { ms, atMs } = used.get(organizationId) ?? { ms: 0, atMs: 0 };
    return clock() - atMs > forgottenAfterMs ? 0 : ms;
  }

  function next(): void {
    // Equals keep the order in which they came.
    const [first] = waiting.toSorted((left, right) => usedBy(left) - usedBy(right));
    if (!first) {
      running -= 1;
      return;
    }
    waiting.splice(waiting.indexOf(first), 1);
    first.start();
  }

  return async <T>(organizationId: string, work: () => Promise<T>): Promise<T> => {
    if (running >= most) await new Promise<void>((start) => waiting.push({ organizationId, start }));
    else running += 1;
    const startedMs = clock();
    try {
      return await work();
    } finally {
      const before = usedBy({ organizationId, start: next });
      used.set(organizationId, { ms: before + clock() - startedMs, atMs: clock() });
      for (const [id, { atMs }] of used) if (clock() - atMs > forgottenAfterMs) used.delete(id);
      next();
    }
  };
}
