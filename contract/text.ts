/** Strings as people and tools send them: normalised, bounded, and refused with a code where they cannot be stored. */
import { z } from 'zod';
import type { FieldCode } from './problems/field-codes.ts';

const controlCharacters = /\p{Cc}/u;
const controlCharactersButTabAndNewline = /(?![\t\n])\p{Cc}/u;

/** What a check of this contract reports; the server prints `params` as the entry's code and suggestion. */
export function failure(code: FieldCode, message: string, input: unknown, suggestion?: string) {
  return { code: 'custom' as const, message, input, params: { code, suggestion } };
}

/** Length as people count it: Unicode code points, not UTF-16 units. */
export function codePoints(value: string): number {
  let count = 0;
  for (const _ of value) count += 1;
  return count;
}

export function normalise(value: string): string {
  return value.normalize('NFC').trim();
}

export type TextOptions = { description: string; example?: string; min?: number; multiline?: boolean };

/**
 * A string of 1..max code points, NFC-normalised and trimmed. NUL, control characters and lone surrogates are refused;
 * multi-line text may hold tabs and newlines (a CRLF becomes a newline).
 */
export function text(max: number, { description, example, min = 1, multiline = false }: TextOptions) {
  const forbidden = multiline ? controlCharactersButTabAndNewline : controlCharacters;
  return z
    .string()
    .overwrite((value) => normalise(multiline ? value.replaceAll('\r\n', '\n') : value))
    .check((context) => {
      const { value } = context;
      if (!value.isWellFormed() || forbidden.test(value)) {
        context.issues.push(
          failure('invalid_characters', 'must not contain control characters or lone surrogates', value),
        );
        return;
      }
      // A string has at least as many UTF-16 units as code points: most need no count.
      if (value.length > max && codePoints(value) > max) {
        context.issues.push(failure('too_long', `must have at most ${max} characters`, value));
      }
      if (value.length < min) context.issues.push(failure('too_short', tooShort(min), value));
    })
    .meta({ description, minLength: min, maxLength: max, ...(example === undefined ? {} : { examples: [example] }) });
}

function tooShort(min: number): string {
  return min === 1 ? 'must not be empty' : `must have at least ${min} characters`;
}

/** A text with one further rule, checked only where the text itself is fine. */
export function textThat(
  rule: (value: string) => ReturnType<typeof failure> | undefined,
  max: number,
  options: TextOptions & { format?: string; pattern?: string },
) {
  const { format, pattern, ...rest } = options;
  const base = text(max, rest);
  return base
    .check((context) => {
      if (context.issues.length > 0) return;
      const problem = rule(context.value);
      if (problem) context.issues.push(problem);
    })
    .meta({ ...base.meta(), ...(format && { format }), ...(pattern && { pattern }) });
}

/**
 * The closed set `values`, with the nearest of them suggested where another is sent. The type stays the union of the
 * values, and the published document lists them.
 */
export function oneOf<const T extends readonly [string, ...string[]]>(
  values: T,
  meta: { description: string; example?: T[number] },
) {
  const { description, example = values[0] } = meta;
  return z.enum(values).meta({ description, examples: [example] });
}
