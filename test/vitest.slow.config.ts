/** The tests with slow tools, a browser and compilers: `npm run check:slow`. */
import { defineConfig } from 'vitest/config';
import shared from './vitest.config.ts';

export default defineConfig({
  test: {
    ...shared.test,
    include: ['test/browser/**/*.test.ts', 'test/compiler/**/*.test.ts', 'test/deployment/**/*.test.ts'],
    exclude: [],
    globalSetup: ['test/database.ts', 'test/browser/chromium.ts'],
    maxWorkers: 2,
    // On a busy machine, a browser or a compiler can take minutes.
    testTimeout: 600_000,
  },
});
