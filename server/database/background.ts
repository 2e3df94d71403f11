/** Background work, once or at intervals. Failures are reported, and `close` waits for what has begun. */
export type Background = ReturnType<typeof createBackground>;

export function createBackground(onError: (error: unknown) => void) {
  const timers: NodeJS.Timeout[] = [];
  const running = new Set<Promise<unknown>>();
  let isClosing = false;
  const start = (job: () => Promise<unknown>): void => {
    if (isClosing) return;
    const done = job()
      .catch(onError)
      .finally(() => running.delete(done));
    running.add(done);
  };
  return {
    start,
    /** While the job is still running, it is not started again. */
    every(ms: number, job: () => Promise<unknown>): void {
      let isRunning = false;
      const startAgain = () => {
        if (isRunning) return;
        isRunning = true;
        start(() => job().finally(() => (isRunning = false)));
      };
      timers.push(setInterval(startAgain, ms).unref());
    },
    isClosing: () => isClosing,
    async close(): Promise<void> {
      isClosing = true;
      for (const timer of timers) clearInterval(timer);
      await Promise.all(running);
    },
  };
}
