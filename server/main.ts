#!/usr/bin/env node
/** The command line: finds the command, runs it, and reports a failure as one line and an exit status. */
import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import type { Command } from './commands/command.ts';
import { UsageError } from './config.ts';
import { isSettingsProblem } from './problems/problem.ts';

type Load = () => Promise<Command>;

// Loaded on demand, so that `--help` does not wait for the ORM.
const commands: Record<string, Load> = {
  serve: async () => (await import('./commands/serve.ts')).serveCommand,
  migrate: async () => (await import('./commands/migrate.ts')).migrateCommand,
  organizations: async () => (await import('./commands/organizations.ts')).organizationsCommand,
  members: async () => (await import('./commands/members.ts')).membersCommand,
  keys: async () => (await import('./commands/keys.ts')).keysCommand,
  import: async () => (await import('./commands/import.ts')).importCommand,
  export: async () => (await import('./commands/export.ts')).exportCommand,
  backup: async () => (await import('./commands/backup.ts')).backupCommand,
  restore: async () => (await import('./commands/restore.ts')).restoreCommand,
  openapi: async () => (await import('./commands/openapi.ts')).openapiCommand,
};

async function overview(): Promise<string> {
  const lines = await Promise.all(
    Object.entries(commands).map(async ([name, load]) => `  ${name.padEnd(15)}${(await load()).summary}`),
  );
  return `Usage: npx proposal-api <command> [options]\n\nCommands:\n${lines.join('\n')}\n\nRun npx proposal-api <command> --help for the options of a command, or --version for the version.\n`;
}

/** The version of the package that this file belongs to, built or not. */
function readVersion(): string {
  const { version }: { version: string } = JSON.parse(readFileSync(findPackageJSON(import.meta.url) ?? '', 'utf8'));
  return version;
}

async function main(words: string[]): Promise<number> {
  const [name, ...rest] = words;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(await overview());
    return name === undefined ? 1 : 0;
  }
  if (name === '--version' || name === '-v') {
    process.stdout.write(`${readVersion()}\n`);
    return 0;
  }
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!load) throw new UsageError(`unknown command: ${name}; there are ${Object.keys(commands).join(', ')}`);
  const command = await load();
  if (rest.includes('--help') || rest.includes('-h')) {
    process.stdout.write(`${command.help.trim()}\n`);
    return 0;
  }
  return command.run(rest);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const known = error instanceof UsageError || isSettingsProblem(error);
  const sentence = error instanceof Error ? error.message : String(error);
  process.stderr.write(`error: ${sentence.split('\n')[0]}\n`);
  if (!known && process.env.DEBUG && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  process.exitCode = 1;
}
