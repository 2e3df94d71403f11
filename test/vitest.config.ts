import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// `SHUFFLE=<seed> npm test` runs files and tests in a random order, always the same for a seed.
const { SHUFFLE } = process.env;
if (SHUFFLE !== undefined) process.stdout.write(`Shuffled by SHUFFLE=${SHUFFLE}\n`);

// Vitest reads the default export.
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    include: ['test/**/*.test.ts'],
    // These use slow tools, or need additional ones: `npm run check` runs them as well.
    exclude: ['test/browser/**', 'test/compiler/**', 'test/consumers/**', 'test/deployment/**'],
    globalSetup: ['test/database.ts'],
    // These only end a hang.
    testTimeout: 180_000,
    hookTimeout: 300_000,
    // A test that asserts nothing cannot fail.
    expect: { requireAssertions: true, poll: { timeout: 120_000 } },
    ...(SHUFFLE !== undefined && { sequence: { shuffle: true, seed: Number(SHUFFLE) } }),
    env: {
      // Processes that tests start find their modules already compiled.
      NODE_COMPILE_CACHE: fileURLToPath(new URL('../node_modules/.cache/compile', import.meta.url)),
      // Everything is in UTC, in whatever time zone the service runs.
      TZ: 'America/St_Johns',
    },
    pool: 'forks',
    // The files of a worker share its loaded modules: loading the service for each file would take as long as all its tests.
    isolate: false,
    // A file mostly waits for its processes and the database: one worker per core would leave the cores idle.
    maxWorkers: 4,
  },
});
