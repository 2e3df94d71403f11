/** The tests with third-party tools, which are installed only here: `npm run check:consumers`. */
import { defineConfig } from 'vitest/config';
import shared from '../vitest.config.ts';

export default defineConfig({
  test: { ...shared.test, include: ['test/consumers/**/*.test.ts'], exclude: ['**/node_modules/**'] },
});
