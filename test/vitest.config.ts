import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// `SHUFFLE=<seed> npm test` runs files and tests in another order, the same one for each seed.
const { SHUFFLE } = process.env;
if (SHUFFLE !== undefined) process.stdout.write(`Shuffled by SHUFFLE=${SHUFFLE}\n`);

// Vitest reads the default export.
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    include: ['test/**/*.test.ts'],
    // These have slow tools, or need more of them: `npm run check` runs them too.
    exclude: ['test/browser/**', 'test/compiler/**', 'test/consumers/**', 'test/deployment/**'],
    globalSetup: ['test/database.ts'],
    // These end a hang; they measure nothing.
    testTimeout: 180_000,
    hookTimeout: 300_000,
    // A test that asserts nothing cannot fail.
    expect: { requireAssertions: true, poll: { timeout: 120_000 } },
    ...(SHUFFLE !== undefined && { sequence: { shuffle: true, seed: Number(SHUFFLE) } }),
    env: {
      // Processes that tests start find their modules compiled.
      NODE_COMPILE_CACHE: fileURLToPath(new URL('../node_modules/.cache/compile', import.meta.url)),
      // Everything is in UTC, wherever the service runs.
      TZ: 'America/St_Johns',
    },
    pool: 'forks',
    // The files of a worker share its loaded modules: to load the service for each file takes as long as all of its tests.
    isolate: false,
    // A file waits for its processes and the database most of the time: one worker a core would leave it idle.
    maxWorkers: 4,
  },
});
