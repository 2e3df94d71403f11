#!/usr/bin/env node
/** Runs the command line. */
await import('./start.ts');
const { runCommandLine } = await import('./commands/command-line.ts');
const { watchStandardOutput } = await import('./commands/terminal.ts');
watchStandardOutput();
const status = await runCommandLine(process.argv.slice(2), { showsStack: Boolean(process.env.DEBUG) });
process.exitCode ??= status;
