/** Values in COPY's text format. */
import { arrayLiteral } from '../database/statement.ts';

/** A value of a column of this type. */
export function copyText(value: unknown, type: string): string {
  if (value === null || value === undefined) return '\\N';
  if (typeof value === 'string' && type !== 'jsonb') return escape(value);
  if (Array.isArray(value) && type !== 'jsonb') return escape(arrayLiteral(value));
  // The rest are documents, numbers and booleans.
  return escape(JSON.stringify(value));
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escape(text: string): string {
  return /[\\\n\r\t]/.test(text) ? text.replaceAll(/[\\\n\r\t]/g, (character) => escapes[character] ?? '') : text;
}
