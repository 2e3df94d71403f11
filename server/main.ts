#!/usr/bin/env node
/** Speeds up the start, and runs the command line. */
import { enableCompileCache, registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

// Next to the code, with its permissions: files in the shared temporary folder could be another user's. If this folder is
// not writable, nothing is cached.
const cache = fileURLToPath(new URL('../.cache', import.meta.url));
enableCompileCache(cache);
// For the processes that this one starts, such as those of imports.
process.env.NODE_COMPILE_CACHE ??= cache;

// The libraries consist of many small modules. For each `import … from './…'`, Node checks the file, symbolic links and
// package.json, although the URL already names the file. That takes a sixth of a command's CPU time.
registerHooks({
  resolve(specifier, context, nextResolve) {
    const isRelative = specifier.startsWith('./') || specifier.startsWith('../');
    return isRelative && context.conditions.includes('import')
      ? { url: new URL(specifier, context.parentURL).href, shortCircuit: true }
      : nextResolve(specifier, context);
  },
});

// Only what is imported from here on is cached.
const { runCommandLine } = await import('./commands/command-line.ts');
const { watchStandardOutput } = await import('./commands/terminal.ts');
watchStandardOutput();
const status = await runCommandLine(process.argv.slice(2), { showsStack: Boolean(process.env.DEBUG) });
process.exitCode ??= status;
