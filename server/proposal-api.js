#!/usr/bin/env node
// Node runs no TypeScript below node_modules: an installed package runs its build, a checkout its source.
const installed = import.meta.url.includes('/node_modules/');
await (installed ? import('../dist/server/main.js') : import('./main.ts'));
