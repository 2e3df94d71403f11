/** Human-readable lines. A line may contain text from a file or a record, which must not control the terminal. */
import { printable } from '../problems/safe-text.ts';

/** Writes lines to standard output. */
export const printLines = (...lines: string[]): void => void process.stdout.write(linesOf(lines));

/** Writes lines to standard error. */
export const warn = (...lines: string[]): void => void process.stderr.write(linesOf(lines));

const linesOf = (lines: string[]): string => lines.map((line) => `${printable(line)}\n`).join('');

/** JSON in which characters that control the terminal are escaped. */
export function printJson(value: unknown): void {
  const text = JSON.stringify(value, undefined, 2).replaceAll(/[\x7f-\x9f\p{Bidi_Control}]/gu, escaped);
  process.stdout.write(`${text}\n`);
}

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
