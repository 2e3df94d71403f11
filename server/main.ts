#!/usr/bin/env node
/** Caches compiled code, so that the next start is faster, and runs the command line. */
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// Beside the code, with its permissions: what is in the shared temporary folder could be another user's. Where this folder
// cannot be written, nothing is cached.
enableCompileCache(fileURLToPath(new URL('../.cache', import.meta.url)));

// Only what is imported from here on is cached.
const { runCommandLine } = await import('./commands/command-line.ts');
process.exitCode = await runCommandLine(process.argv.slice(2), { showsStack: Boolean(process.env.DEBUG) });
