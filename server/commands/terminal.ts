/** What a command prints. A line may contain text from a file or a record, which must not control the terminal. */
import { constants } from 'node:os';
import { printable } from '../problems/safe-text.ts';

export const printLines = (...lines: string[]): void => void process.stdout.write(linesOf(lines));
export const warn = (...lines: string[]): void => void process.stderr.write(linesOf(lines));

const linesOf = (lines: string[]): string => lines.map((line) => `${printable(line)}\n`).join('');

/** JSON in which characters that control the terminal are escaped. */
export function printJson(value: unknown): void {
  const text = JSON.stringify(value, undefined, 2).replaceAll(/[\x7f-\x9f\p{Bidi_Control}]/gu, escaped);
  process.stdout.write(`${text}\n`);
}

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Ends a command with a nonzero exit status after it has printed everything itself. */
export class ExitStatus extends Error {
  readonly status: number;
  constructor(status: number) {
    super(`exit status ${status}`);
    this.status = status;
  }
}

let status: number | undefined;

/** The exit status of a command whose output could not be written; undefined if it could. */
export const outputStatus = (): number | undefined => status;

/** Handles failed writes, which commands do not await: otherwise, one would end the process with a stack trace. */
export function watchStandardOutput(): void {
  // There is nowhere else to report it.
  process.stderr.on('error', () => undefined);
  process.stdout.on('error', (error) => {
    if (status !== undefined) return;
    if ('code' in error && error.code === 'EPIPE') {
      // A reader such as `head` has seen enough: exit as if SIGPIPE had ended the process.
      status = 128 + constants.signals.SIGPIPE;
      return;
    }
    status = 1;
    warn(`error: standard output cannot be written: ${error.message}`);
    process.exitCode = status;
  });
}
