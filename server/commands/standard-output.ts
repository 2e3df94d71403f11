/** Handles failed writes to standard output and standard error, which commands do not await. */
import { constants } from 'node:os';
import { warn } from './terminal.ts';

let status: number | undefined;

/** The exit status of a command whose output could not be written; undefined if it could. */
export const outputStatus = (): number | undefined => status;

/** Without this, such a failure would end the process with a stack trace. */
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
