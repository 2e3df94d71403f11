/** Settings of V8, which reads these flags whenever it collects garbage or considers optimizing a function. */
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * For commands that read or write records by the million. Most objects live as long as their chunk. By default, V8 lets
 * 100 MB or more of them pile up before it collects them.
 */
export function keepMemorySmall(): void {
  setFlagsFromString('--heap-growing-percent=60');
  limitYoungGeneration();
  collectGarbage();
}

/** For both halves of the young generation, which V8 would let grow to 128 MB. */
const mostYoungBytes = 32 * 2 ** 20;

/** For processes that serve: little memory, and full speed after 5,000 requests instead of 15,000. */
export function setServingFlags(): void {
  // What survives a collection is mostly caches that hardly grow; by default, V8 lets the heap double before the next one.
  setFlagsFromString('--heap-growing-percent=20');
  // V8 would treat rows that survive a few collections as long-lived, and keep all later ones until a full collection.
  setFlagsFromString('--no-allocation-site-pretenuring');
  limitYoungGeneration();
  // Without the mid-tier compiler, hot functions are compiled once instead of twice, which saves 10 to 20 MB.
  setFlagsFromString('--no-maglev');
  // By default, V8 calls a function some 3,000 times before it optimizes it fully.
  setFlagsFromString('--invocation-count-for-turbofan=500');
}

/** The same as --max-semi-space-size=16, which can be set only when a process starts. */
function limitYoungGeneration(): void {
  let growth = 0;
  new PerformanceObserver(() => {
    const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
    // V8 shrinks it while the process is mostly idle, and then it may grow again.
    const next = young && young.space_size >= mostYoungBytes ? 1 : 2;
    if (next !== growth) setFlagsFromString(`--semi-space-growth-factor=${next}`);
    growth = next;
  }).observe({ entryTypes: ['gc'] });
}

/**
 * The first collection determines how far the heap may grow until the next one. V8 would start the first when the process
 * is idle or, if requests arrive immediately, after 100 MB. A last-resort collection also shrinks the young generation to
 * its smallest size: loading modules can make it larger than a process needs.
 */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: object) => void;
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
