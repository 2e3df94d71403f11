/** Query parameters, parsed strictly. Nothing is clamped, guessed or ignored. */
import { maximumWords, metadataKeyPattern, metadataLimits } from './limits.ts';
import { notAnInstant, parseInstant } from './instant.ts';
import { nearest } from './nearest.ts';
import { parsed } from './parsed.ts';
import { cleanText, failure, isBlank } from './text.ts';
import type { Failure } from './text.ts';

export type Schema = { description: string; inHttp?: string; emptyIsAbsent?: boolean } & Record<string, unknown>;
/** The maximum length of a number, time, id, code or choice: ample for each of them. */
export const maximumValueLength = 100;

/** `typed` is the value as it was sent, before it was trimmed and normalized. */
type Parse<Output> = (value: string, typed: string) => Output | Failure;

/**
 * One value of at most `max` characters; given twice, it is a `duplicate_parameter`. It must not be empty unless
 * `emptyIsAbsent` is set: tools such as Postman send empty parameters, which is harmless unless they are filters.
 */
export function parameter<Output>(max: number, parse: Parse<Output>, { emptyIsAbsent = false, ...schema }: Schema) {
  return parsed<Output | undefined, Output>((value) => {
    if (emptyIsAbsent && isBlank(value)) return undefined;
    if (Array.isArray(value)) return failure('duplicate_item', 'must be given once', value);
    return typeof value === 'string'
      ? parseText(value, max, parse)
      : failure('invalid_type', 'must be a single value', value);
  }, schema).optional();
}

function parseText<Output>(value: string, max: number, parse: Parse<Output>, multiline = false): Output | Failure {
  const clean = cleanText(value, max, multiline);
  if (clean === '') return failure('too_short', 'must not be empty; omit the parameter instead', value);
  return typeof clean === 'string' ? parse(clean, value) : clean;
}

export function textParameter(max: number, schema: Schema, parse: Parse<string> = (value) => value) {
  return parameter<string>(max, parse, { type: 'string', minLength: 1, maxLength: max, ...schema });
}

/** Searches ignore all other punctuation, and what is invisible. */
const searched = /[^\p{P}\p{Default_Ignorable_Code_Point}\u0640\u2044\u2212]|[%_@#&*]/u;

/** A comma ends a word even if no space follows it. A dash or slash alone is not a word. */
export const wordsIn = (q: string): string[] =>
  q.split(/[\s,]+/).filter((word) => searched.test(word.normalize('NFKD')));

/** Restores the + of a phone number, if there is room: in a URL, one that is not encoded becomes a space. */
export const withPlus = (value: string, typed: string, max: number): string =>
  /^ \d/.test(typed) && value.length < max ? `+${value}` : value;

/** A search. Every word must be found, so the number of words is limited. */
export function searchParameter(max: number, schema: Schema) {
  return textParameter(max, schema, (value, typed) =>
    wordsIn(value).length > maximumWords
      ? failure('too_many_items', `must have at most ${maximumWords} words`, value)
      : withPlus(value, typed, max),
  );
}

export function integerParameter(min: number, max: number, fallback: number, schema: Schema) {
  return parameter<number>(
    maximumValueLength,
    (value) => {
      const number = /^-?\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
      return number >= min && number <= max
        ? number
        : failure('out_of_range', `must be a whole number from ${min} to ${max}`, value);
    },
    { type: 'integer', minimum: min, maximum: max, default: fallback, ...schema },
  );
}

const choiceOf =
  <T extends string>(values: readonly T[]): Parse<T> =>
  (value) =>
    values.find((choice) => choice === value) ??
    failure('invalid_enum', `must be one of ${values.join(', ')}`, value, nearest(value, values));

export function choiceParameter<const T extends string>(values: readonly T[], schema: Schema) {
  return parameter<T>(maximumValueLength, choiceOf(values), { type: 'string', enum: values, ...schema });
}

/** Agents send JSON, which can contain objects; String() throws on one with a member `toString`. */
const isPlain = (value: unknown): boolean => typeof value !== 'object';

/** Up to `most` values, without duplicates: separated by commas, repeated, or both. `word` names one of them. */
export function parseList<T extends string>(
  value: unknown,
  { most, word }: { most: number; word: string },
  parse: (part: string) => T | Failure,
): Set<T> | Failure {
  const typed: unknown[] = Array.isArray(value) ? value : [value];
  if (!typed.every(isPlain)) return failure('invalid_type', 'must be text', value);
  const parts = typed
    .map(String)
    .join(',')
    .split(',', most + 1);
  if (parts.length > most)
    return failure('too_many_items', `must have at most ${most} ${word}${most > 1 ? 's' : ''}`, value);
  const found = new Set<T>();
  for (const part of parts) {
    const one = parse(part);
    if (typeof one !== 'string') return one;
    found.add(one);
  }
  return found;
}

/** Several values of a closed set; the result is in the set's own order. */
export function choicesParameter<const T extends string>(values: readonly T[], schema: Schema) {
  const most = values.length;
  const choiceIn = (part: string) => parseText(part, maximumValueLength, choiceOf(values));
  return parsed<T[], T | readonly T[]>(
    (value) => {
      const wanted = parseList(value, { most, word: 'value' }, choiceIn);
      return wanted instanceof Set ? values.filter((choice) => wanted.has(choice)) : wanted;
    },
    {
      type: 'array',
      items: { type: 'string', enum: values },
      maxItems: most,
      ...(most > 1 && { inHttp: 'Separate several with commas, or repeat the parameter.' }),
      ...schema,
    },
  ).optional();
}

export function instantParameter(schema: Schema) {
  return parameter<string>(maximumValueLength, (value) => parseInstant(value) ?? notAnInstant(value), {
    type: 'string',
    format: 'date-time',
    maxLength: maximumValueLength,
    examples: ['2026-03-01T00:00:00Z'],
    ...schema,
    description: `${schema.description} RFC 3339 with a time zone; a date alone means 00:00 UTC.`,
  });
}

/** `metadata[key]=value`, up to 5 of them, ANDed; the server's query parser passes them as one object. */
export const metadataParameter = parsed<Record<string, string>>(
  (value, report) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return failure('invalid_type', 'must name a key: metadata[key]=value', value);
    }
    const entries = Object.entries(value);
    if (entries.length > metadataLimits.filters) {
      return failure('too_many_items', `must have at most ${metadataLimits.filters} keys`, value);
    }
    const filters: Record<string, string> = {};
    for (const [key, typed] of entries) {
      const filter = metadataFilter(key, typed);
      if (typeof filter === 'string') filters[key] = filter;
      else report({ ...filter, path: [key] });
    }
    return filters;
  },
  {
    type: 'object',
    additionalProperties: { type: 'string', maxLength: metadataLimits.valueLength },
    maxProperties: metadataLimits.filters,
    description: `Only records with these metadata values; up to ${metadataLimits.filters}, all of which must match.`,
    inHttp: 'Written as `metadata[key]=value`.',
    examples: [{ segment: 'retail' }],
  },
).optional();

function metadataFilter(key: string, value: unknown): string | Failure {
  if (!metadataKeyPattern.test(key)) return failure('invalid_characters', 'is not a valid key', key);
  if (Array.isArray(value)) return failure('duplicate_item', 'must be given once', value);
  if (!isPlain(value)) return failure('invalid_type', 'must be text', value);
  return parseText(String(value), metadataLimits.valueLength, (text) => text, true);
}
