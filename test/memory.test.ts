/** How much memory a process may use for short-lived objects, however it was started. */
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

const memory = new URL('../server/commands/v8-flags.ts', import.meta.url);

/** Keeps many objects for a short time, before and after the limit is set; prints how much memory V8 gave them. */
const script = (limit: string) => `
  import { setImmediate as turn } from 'node:timers/promises';
  import { getHeapSpaceStatistics } from 'node:v8';
  import { collectGarbage, keepMemorySmall, setServingFlags } from '${memory.href}';
  async function churn() {
    let kept = [];
    let most = 0;
    for (let round = 0; round < 2000; round += 1) {
      for (let count = 0; count < 4000; count += 1) kept.push({ count });
      if (kept.length > 400_000) kept = kept.slice(200_000);
      await turn();
      most = Math.max(most, getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size);
    }
    return most / 2 ** 20;
  }
  const before = await churn();
  ${limit}
  console.log(JSON.stringify({ before, after: await churn() }));`;

test.each([
  ['a process that serves', 'setServingFlags(); collectGarbage();'],
  ['a command that reads or writes many records', 'keepMemorySmall();'],
])('%s keeps its young generation at the size that --max-semi-space-size=16 sets', (_, limit) => {
  const { before, after } = JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '--eval', script(limit)], { encoding: 'utf8' }),
  );
  expect(before).toBeGreaterThan(32);
  expect(after).toBe(32);
});
