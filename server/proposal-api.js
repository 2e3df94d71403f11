#!/usr/bin/env node
/** The command, as npm installs it. */
import module from 'node:module';
import { fileURLToPath } from 'node:url';

if (Number.parseInt(process.versions.node) < 24) {
  process.stderr.write(
    `error: Node 24 is required; this is ${process.version}. On Linux, \`npx proposal-api\` uses a bundled Node 24.\n`,
  );
  process.exit(1);
}

// As start.ts does, but before it is loaded: with everything in the cache, Node need not load its TypeScript compiler.
module.enableCompileCache(fileURLToPath(new URL('../.cache', import.meta.url)));

// Node does not run TypeScript below node_modules: an installed package runs its build, a checkout its source.
const installed = import.meta.url.includes('/node_modules/');
await (installed ? import('../dist/server/main.js') : import('./main.ts'));
