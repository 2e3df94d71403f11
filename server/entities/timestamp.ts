import { Type } from '@mikro-orm/core';

/** PostgreSQL's text of a timestamptz(3) → RFC 3339 in UTC with exactly three decimals. */
export function toRfc3339(stored: string): string {
  // Sessions in UTC print +00; any other zone costs a parse.
  if (!stored.endsWith('+00')) return new Date(stored).toISOString();
  const fraction = stored.length > 22 ? stored.slice(20, -3) : '';
  return `${stored.slice(0, 10)}T${stored.slice(11, 19)}.${fraction.padEnd(3, '0')}Z`;
}

/** A moment: an RFC 3339 string in the program, as in the API, so that text order is time order. */
export class Timestamp extends Type<string, string> {
  override convertToJSValue(value: string): string {
    return toRfc3339(value);
  }

  override getColumnType(): string {
    return 'timestamptz(3)';
  }

  override compareAsType(): string {
    return 'string';
  }
}
