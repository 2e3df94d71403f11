/** Strings as people and tools send them: normalized, limited in length, and rejected if they cannot be stored. */
import { z } from 'zod';
import { typeNames } from './annotations.ts';
import type { FieldCode } from './problems/field-codes.ts';

const lineBreakOrTab = /[\t\n\r]/;
const controlCharacters = /\p{Cc}/u;
const controlCharactersButTabAndNewline = /(?![\t\n])\p{Cc}/u;

/** The issue that a check in this contract reports; the server sends `params` as the error's code and suggestion. */
export function failure(code: FieldCode, message: string, input: unknown, suggestion?: string) {
  return { code: 'custom' as const, message, input, params: { code, suggestion } };
}
export type Failure = ReturnType<typeof failure>;

/** Length as people count it: Unicode code points, not UTF-16 units. */
function codePoints(value: string): number {
  let count = 0;
  for (const _ of value) count += 1;
  return count;
}

/** The most UTF-16 units of this many code points before normalization: up to 4 parts each, of up to 2 units. */
export const unitsOf = (length: number): number => 8 * length;
/** No script needs more combining marks on one letter (UAX 15 calls such text stream-safe). */
const mostMarks = 30;
const tooManyMarks = new RegExp(`\\p{M}{${mostMarks + 1}}`, 'u');

const tooLong = (max: number, value: string) => failure('too_long', `must have at most ${max} characters`, value);

/** Rejects text that would take too long to normalize: the cost grows with the square of a run of combining marks. */
function checkNormalizable(value: string, max: number): Failure | undefined {
  if (value.length > unitsOf(max) && value.trim().length > unitsOf(max)) return tooLong(max, value);
  return value.length > mostMarks && tooManyMarks.test(value)
    ? failure('invalid_characters', `must not have more than ${mostMarks} combining marks in a row`, value)
    : undefined;
}

const invisible = /^[\s\p{Default_Ignorable_Code_Point}]*$/u;

/** Whether nothing is visible: there are only spaces and zero-width characters. */
export const isBlank = (value: unknown): boolean => typeof value === 'string' && invisible.test(value);

/** CRLF becomes a newline. */
const normalize = (value: string, multiline: boolean): string =>
  isBlank(value) ? '' : (multiline ? value.replaceAll('\r\n', '\n') : value).normalize('NFC').trim();

/** Rejects a normalized value that cannot be stored. */
function checkStorable(value: string, max: number, multiline: boolean): Failure | undefined {
  const forbidden = multiline ? controlCharactersButTabAndNewline : controlCharacters;
  if (!value.isWellFormed() || forbidden.test(value)) {
    const found =
      !multiline && lineBreakOrTab.test(value) ? 'line breaks or tabs' : 'control characters or lone surrogates';
    return failure('invalid_characters', `must not contain ${found}`, value);
  }
  // A string has at least as many UTF-16 units as code points, so most strings need no counting.
  return value.length > max && codePoints(value) > max ? tooLong(max, value) : undefined;
}

/** The value as it is stored (at most `max` code points, NFC-normalized and trimmed), or the error if it cannot be. */
export function cleanText(value: string, max: number, multiline: boolean): string | Failure {
  const rejected = checkNormalizable(value, max);
  if (rejected) return rejected;
  const clean = normalize(value, multiline);
  return checkStorable(clean, max, multiline) ?? clean;
}

export type TextOptions = { description: string; example?: string; multiline?: boolean };

/**
 * A string of 1..max code points, NFC-normalized and trimmed. NUL, control characters and lone surrogates are rejected;
 * multi-line text may have tabs and newlines.
 */
export function text(max: number, { description, example, multiline = false }: TextOptions) {
  return z
    .string()
    .check(asCheck((value) => checkNormalizable(value, max)))
    .overwrite((value) => normalize(value, multiline))
    .check(asCheck((value) => checkStorable(value, max, multiline) ?? checkNotEmpty(value)))
    .meta({ description, minLength: 1, maxLength: max, ...(example === undefined ? {} : { examples: [example] }) });
}

/** A text in a response: described, but not checked, because the server sends it. */
export const responseText = (maxLength: number, description: string, example: string) =>
  z.string().meta({ maxLength, description, examples: [example] });

/** A rule as a Zod check. Each check runs only if all checks before it passed. */
const asCheck =
  (rule: (value: string) => Failure | undefined) =>
  ({ value, issues }: { value: string; issues: unknown[] }) => {
    const problem = rule(value);
    if (problem) issues.push(problem);
  };

const checkNotEmpty = (value: string) => (value === '' ? failure('too_short', 'must not be empty', value) : undefined);

/** Changes ASCII letters only: `ı` and `ſ` in a code must not become `I` and `S`. */
export const asciiUpperCase = (value: string): string => value.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase());

/** A text with one further rule, which runs only on valid text. */
export function textWithRule(
  rule: (value: string) => Failure | undefined,
  max: number,
  { upperCase = false, format, ...options }: TextOptions & { upperCase?: boolean; format?: string },
) {
  const base = text(max, options);
  const typed = upperCase ? base.overwrite(asciiUpperCase) : base;
  return typed.check(asCheck(rule)).meta({ ...base.meta(), ...(format && { format }) });
}

/**
 * One of a closed set; for any other value, the server suggests the nearest one. The type stays the union of the
 * values, and the published document lists them.
 */
export function oneOf<const T extends readonly [string, ...string[]]>(
  values: T,
  meta: { description: string; example?: T[number]; typeName: string },
) {
  const { description, example = values[0], typeName } = meta;
  return z
    .enum(values)
    .meta({ description, examples: [example] })
    .register(typeNames, { typeName });
}
