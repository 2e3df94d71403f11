/** What a process that serves may take for garbage, however it was started. */
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

/** Prints the largest size, in MB, of the young generation of a process that keeps many objects for a short time. */
const churn = `
  import { setImmediate as turn } from 'node:timers/promises';
  import { getHeapSpaceStatistics } from 'node:v8';
  let kept = [];
  let most = 0;
  for (let round = 0; round < 2000; round += 1) {
    for (let count = 0; count < 4000; count += 1) kept.push({ count });
    if (kept.length > 400_000) kept = kept.slice(200_000);
    await turn();
    most = Math.max(most, getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size);
  }
  console.log(most / 2 ** 20);`;

function youngGeneration(prepare: string): number {
  return Number(execFileSync(process.execPath, ['--input-type=module', '--eval', prepare + churn]));
}

test('a process that serves keeps its young generation at the size that --max-semi-space-size=16 sets', () => {
  const memory = new URL('../server/commands/memory.ts', import.meta.url);
  expect(youngGeneration(`import { limitMemory } from '${memory.href}'; limitMemory();`)).toBe(32);
  // Without it, these objects would take more.
  expect(youngGeneration('')).toBeGreaterThan(32);
});
