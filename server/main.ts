#!/usr/bin/env node
/** Makes the start fast, and runs the command line. */
import { enableCompileCache, registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

// Beside the code, with its permissions: what is in the shared temporary folder could be another user's. Where this folder
// cannot be written, nothing is cached.
const cache = fileURLToPath(new URL('../.cache', import.meta.url));
enableCompileCache(cache);
// For the processes that this one starts, such as those of imports.
process.env.NODE_COMPILE_CACHE ??= cache;

// The libraries are many small modules. For each `import … from './…'`, Node looks for the file, for symbolic links and for
// a package.json, although the URL already says which file it is: a sixth of the CPU time of a command.
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
const { watchStandardOutput } = await import('./commands/standard-output.ts');
watchStandardOutput();
const status = await runCommandLine(process.argv.slice(2), { showsStack: Boolean(process.env.DEBUG) });
process.exitCode ??= status;
