/** The two packages, as other people's tools see them. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packAll, root, run } from '../package/packed.ts';
import { undocumented } from './hover.ts';

let packed: Awaited<ReturnType<typeof packAll>>;
beforeAll(async () => {
  packed = await packAll();
});
afterAll(() => packed?.remove());

describe('the packages', () => {
  test('have types that every module resolver finds', async () => {
    for (const { tarball } of [packed.server, packed.client]) {
      // ES modules only: `require` loads them from Node 20.19 on. attw exits with 1 if it finds anything else.
      const words = [tarball, '--profile', 'esm-only', '--format', 'ascii'];
      const { stdout } = await run(join(root, 'test/consumers/node_modules/.bin/attw'), words);
      expect(stdout.match(/^(?:node16 \(from ESM\)|bundler): 🟢/gm), tarball).toHaveLength(6);
    }
  });

  test('of the client explains every method, field and option in an editor', () => {
    expect(undocumented(packed.client)).toEqual([]);
  });
});
