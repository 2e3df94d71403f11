#!/usr/bin/env node
// Node reads no TypeScript below node_modules: there the package is built; a checkout runs what stands in it.
const installed = import.meta.url.includes('/node_modules/');
await (installed ? import('../dist/server/main.js') : import('./main.ts'));
