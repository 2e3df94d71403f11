import { text as textOf } from 'node:stream/consumers';
import { Option } from '@commander-js/extra-typings';
import { passwordProblem } from '../accounts/passwords.ts';
import { UsageError } from '../config.ts';

export const passwordOption = () =>
  new Option('--password-stdin', 'read the password from the first line of standard input');

export async function readPassword(): Promise<string> {
  const [line = ''] = (await textOf(process.stdin)).split(/\r?\n/, 1);
  return line;
}

/** `known`: what others know about the member. */
export async function checkPassword(typed: string | undefined, known: readonly string[]): Promise<void> {
  const problem = typed === undefined ? undefined : await passwordProblem(typed, known);
  if (problem) throw new UsageError(`The password on standard input cannot be used. ${problem}`);
}
