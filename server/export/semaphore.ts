/** Limits how many exports are read at once. */

export type Semaphore = ReturnType<typeof createSemaphore>;

/** Lets up to `atOnce` sources be read at a time; the others wait until one ends. */
export function createSemaphore(atOnce: number) {
  let free = atOnce;
  const waiting: (() => void)[] = [];
  return async function* take<T>(source: AsyncIterable<T>): AsyncGenerator<T> {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      yield* source;
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}
