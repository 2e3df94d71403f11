/** Work beside requests: once, or again and again. A failure is reported, and `close` waits for what has begun. */
export type Background = {
  start(job: () => Promise<unknown>): void;
  every(ms: number, job: () => Promise<unknown>): void;
  isClosing(): boolean;
  close(): Promise<void>;
};

export function createBackground(onError: (error: unknown) => void): Background {
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
    every: (ms, job) => void timers.push(setInterval(() => start(job), ms).unref()),
    isClosing: () => isClosing,
    async close() {
      isClosing = true;
      for (const timer of timers) clearInterval(timer);
      while (running.size > 0) await Promise.all(running);
    },
  };
}
