#!/usr/bin/env node
/** The command, as npm installs it. */
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// As main.ts does, but before that is loaded: with everything in the cache, Node need not load its TypeScript compiler.
enableCompileCache(fileURLToPath(new URL('../.cache', import.meta.url)));

// Node runs no TypeScript below node_modules: an installed package runs its build, a checkout its source.
const installed = import.meta.url.includes('/node_modules/');
await (installed ? import('../dist/server/main.js') : import('./main.ts'));
