/** The command line: the table of commands, and how a failure is reported. */
import { Command, CommanderError, Help } from '@commander-js/extra-typings';
import { UsageError } from '../config.ts';
import { readVersion } from '../files.ts';
import { isSettingsProblem } from '../problems/problem.ts';
import type { Declare } from './command.ts';
import { ExitStatus, outputStatus, warn } from './terminal.ts';
import { messageOf } from '../problems/message-of.ts';

type Load = () => Promise<{ declare: Declare }>;

/** Name → summary, and the command's module, which is loaded with its imports only to run the command. */
const commands: Record<string, [summary: string, load: Load]> = {
  serve: ['serve the API', () => import('./serve.ts')],
  migrate: ['migrate the database schema', () => import('./migrate.ts')],
  distribute: ['spread the records over the nodes of a Citus cluster', () => import('./distribute.ts')],
  organizations: ['create, list and rename organizations, and set their plan', () => import('./organizations.ts')],
  members: [
    'list, add and remove members, change their role, issue password links, and reset two-factor authentication',
    () => import('./members.ts'),
  ],
  keys: ['list, create, rename, replace and revoke API keys', () => import('./keys.ts')],
  customers: ['erase the personal data of a customer, and release its externalId', () => import('./customers.ts')],
  webhooks: ['list, create, change and test webhook endpoints, and resend events', () => import('./webhooks.ts')],
  import: ['import customers, items or proposals from a file', () => import('./import.ts')],
  export: ['export customers, items or proposals to a file', () => import('./export.ts')],
  backup: ['write the whole database to one file', () => import('./backup.ts')],
  restore: ['restore a backup into an empty database', () => import('./restore.ts')],
  openapi: ['print the OpenAPI document', () => import('./openapi.ts')],
};

/** A newline inside a paragraph only wraps the source. */
const withoutLineBreaks = (text: string): string => text.trim().replaceAll(/(?<!\n)\n(?!\n)/g, ' ');

const help = new Help();

async function declareAll(words: string[]): Promise<Command> {
  const program = new Command('npx proposal-api')
    .version(readVersion(), '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .exitOverride()
    // An error is printed once, below.
    .configureOutput({ outputError: () => undefined })
    .configureHelp({
      commandDescription: (command) => withoutLineBreaks(command.description()),
      optionDescription: (option) => `${help.optionDescription(option)}${option.mandatory ? ' (required)' : ''}`,
    });
  for (const [name, [summary, load]] of Object.entries(commands)) {
    const command = program.command(name).summary(summary);
    if (words.includes(name)) (await load()).declare(command);
  }
  return program;
}

/** Returns the exit status. */
export async function runCommandLine(words: string[], { showsStack = false } = {}): Promise<number> {
  try {
    const program = await declareAll(words);
    await program.parseAsync(words, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof ExitStatus) return error.status;
    const status = outputStatus();
    if (status !== undefined) return status;
    if (error instanceof CommanderError) {
      // Help and the version are also "errors", and have already been printed.
      if (/help|version/i.test(error.code)) return error.exitCode;
      warn(
        error.message
          .split('\n')
          .map((line) => line.trim())
          .join(' '),
      );
      return error.exitCode;
    }
    const known = error instanceof UsageError || isSettingsProblem(error);
    const sentence = messageOf(error);
    // Other errors may have SQL or a stack after their first line.
    const lines = known ? sentence.split('\n') : sentence.split('\n', 1);
    warn(...lines.map((line) => `error: ${line}`));
    if (!known && showsStack && error instanceof Error) process.stderr.write(`${error.stack}\n`);
    return 1;
  }
}
