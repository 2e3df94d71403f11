import { defineConfig } from 'vitest/config';

// The settings file is read by its default export: the only one in the house.
export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/database.ts'],
    // These end a hang; they measure nothing.
    testTimeout: 180_000,
    hookTimeout: 300_000,
    pool: 'forks',
    // A file waits for its processes and its browser most of the time: one worker would leave a core idle.
    maxWorkers: 2,
  },
});
