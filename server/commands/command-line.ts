/** The command line: finds the command, runs it, and reports a failure as one line and an exit status. */
import { UsageError } from '../config.ts';
import { readVersion } from '../files.ts';
import { isSettingsProblem } from '../problems/problem.ts';
import type { Command } from './command.ts';
import { warn } from './terminal.ts';

type Entry = {
  /** One line for the list of commands. */
  summary: string;
  load: () => Promise<Command>;
};

// Each is loaded when it runs, with only what it needs.
const commands: Record<string, Entry> = {
  serve: {
    summary: 'serve the API',
    load: async () => (await import('./serve.ts')).serveCommand,
  },
  migrate: {
    summary: 'bring the database schema up to date',
    load: async () => (await import('./migrate.ts')).migrateCommand,
  },
  distribute: {
    summary: 'spread the records over the nodes of a Citus cluster',
    load: async () => (await import('./distribute.ts')).distributeCommand,
  },
  organizations: {
    summary: 'create, list and rename organizations, and set their plan',
    load: async () => (await import('./organizations.ts')).organizationsCommand,
  },
  members: {
    summary: 'list, add and remove members, change their role, and issue password links',
    load: async () => (await import('./members.ts')).membersCommand,
  },
  keys: {
    summary: 'list, create, rename, replace and revoke API keys',
    load: async () => (await import('./keys.ts')).keysCommand,
  },
  customers: {
    summary: 'erase the personal data of a customer',
    load: async () => (await import('./customers.ts')).customersCommand,
  },
  import: {
    summary: 'import customers, items or proposals from a file',
    load: async () => (await import('./import.ts')).importCommand,
  },
  export: {
    summary: 'export customers, items or proposals to a file',
    load: async () => (await import('./export.ts')).exportCommand,
  },
  backup: {
    summary: 'write the whole database to one file',
    load: async () => (await import('./backup.ts')).backupCommand,
  },
  restore: {
    summary: 'restore a backup into an empty database',
    load: async () => (await import('./restore.ts')).restoreCommand,
  },
  openapi: {
    summary: 'print the OpenAPI document',
    load: async () => (await import('./openapi.ts')).openapiCommand,
  },
};

function overview(): string {
  const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(15)}${summary}`);
  return `Usage: npx proposal-api <command> [options]\n\nCommands:\n${lines.join('\n')}\n\nRun npx proposal-api <command> --help for the options of a command, or --version for the version.\n`;
}

async function run(words: string[]): Promise<number> {
  const [name, ...rest] = words;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(overview());
    return name === undefined ? 1 : 0;
  }
  if (name === '--version' || name === '-v') {
    process.stdout.write(`${readVersion()}\n`);
    return 0;
  }
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!entry) throw new UsageError(`unknown command: ${name}; there are ${Object.keys(commands).join(', ')}`);
  const command = await entry.load();
  if (rest.includes('--help') || rest.includes('-h')) {
    process.stdout.write(`${command.help.trim()}\n`);
    return 0;
  }
  return command.run(rest);
}

/** Returns the exit status. */
export async function runCommandLine(words: string[], { showsStack = false } = {}): Promise<number> {
  try {
    return await run(words);
  } catch (error) {
    const known = error instanceof UsageError || isSettingsProblem(error);
    const sentence = error instanceof Error ? error.message : String(error);
    warn(`error: ${sentence.split('\n')[0]}`);
    if (!known && showsStack && error instanceof Error) process.stderr.write(`${error.stack}\n`);
    return 1;
  }
}
