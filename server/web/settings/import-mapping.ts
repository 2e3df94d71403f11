/** What an admin says about the columns of a file: one line each, `Company name = companyName`. */
import type { Upload } from '../../entities/upload.ts';
import { Problem } from '../../problems/problem.ts';

const mostLines = 200;

export function parseMapping({ columns, rest }: { columns: string; rest: string }): Upload['mapping'] {
  const lines = columns.split('\n').filter((line) => line.trim() !== '');
  if (lines.length > mostLines)
    throw new Problem('invalid', { sentence: `Name at most ${mostLines} columns.`, field: 'columns' });
  const map = Object.fromEntries(
    lines.map((line) => {
      const at = line.lastIndexOf('=');
      const column = line.slice(0, at).trim();
      if (at < 1 || column === '')
        throw new Problem('invalid', {
          sentence: `Write “${line.trim().slice(0, 60)}” as Column = field.`,
          field: 'columns',
        });
      return [column, line.slice(at + 1).trim()];
    }),
  );
  return { ...(lines.length > 0 && { map }), restToMetadata: rest === 'metadata' };
}
