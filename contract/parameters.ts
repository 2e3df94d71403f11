/** Query parameters, parsed strictly. Nothing is clamped, guessed or ignored. */
import { emailForm, idForm, prefixes } from './fields.ts';
import type { Kind } from './fields.ts';
import { exampleId } from './examples.ts';
import { maximumWords, metadataKeyForm, metadataLimits } from './limits.ts';
import { notAnInstant, parseInstant } from './instant.ts';
import { nearest } from './nearest.ts';
import { parsed } from './parsed.ts';
import { cleanText, failure } from './text.ts';
import type { Failure } from './text.ts';

export type Schema = { description: string; inHttp?: string; emptyIsAbsent?: boolean } & Record<string, unknown>;
/** No parameter with a closed set of values is longer. */
export const longestWord = 100;

/**
 * One value of at most `max` characters; given twice it is `duplicate_parameter`. It must not be empty, unless `emptyIsAbsent`:
 * tools such as Postman send empty parameters, which is harmless where none of them is a filter.
 */
export function parameter<Output, Input = Output>(
  max: number,
  parse: (value: string) => Output | Failure,
  { emptyIsAbsent = false, ...schema }: Schema,
) {
  return parsed<Output | undefined, Input>((value) => {
    if (emptyIsAbsent && typeof value === 'string' && value.trim() === '') return undefined;
    if (Array.isArray(value)) return failure('too_many_items', 'must be given once', value);
    return typeof value === 'string'
      ? parseText(value, max, parse)
      : failure('invalid_type', 'must be a single value', value);
  }, schema).optional();
}

function parseText<Output>(value: string, max: number, parse: (value: string) => Output | Failure): Output | Failure {
  const clean = cleanText(value, max);
  if (clean === '') return failure('too_short', 'must not be empty; omit the parameter instead', value);
  return typeof clean === 'string' ? parse(clean) : clean;
}

export function textParameter(max: number, schema: Schema) {
  return parameter<string>(max, (value) => value, { type: 'string', minLength: 1, maxLength: max, ...schema });
}

/** An email address. A `+` that a tool did not encode arrives as a space, and would find nothing. */
export function emailParameter(schema: Schema) {
  return parameter<string>(
    254,
    (value) => {
      if (emailForm.test(value)) return value;
      const hasLostPlus = emailForm.test(value.replaceAll(' ', '+'));
      const advice = hasLostPlus ? ', without a space; write a + as %2B' : ' such as ana@example.com';
      return failure('invalid_email', `must be one email address${advice}`, value);
    },
    { type: 'string', minLength: 1, maxLength: 254, ...schema },
  );
}

/** A search. Every word must be found, so the number of words is limited. */
export function searchParameter(max: number, schema: Schema) {
  return parameter<string>(
    max,
    (value) =>
      value.split(/\s+/).length > maximumWords
        ? failure('too_many_items', `must have at most ${maximumWords} words`, value)
        : value,
    { type: 'string', minLength: 1, maxLength: max, ...schema },
  );
}

/** The id of a record. A malformed id is an error rather than a filter that matches nothing. */
export function idParameter(kind: Kind, schema: Schema) {
  const form = idForm(kind);
  const example = exampleId(prefixes[kind]);
  return parameter<string>(
    longestWord,
    (value) =>
      form.test(value) ? value : failure('invalid_type', `must be the id of a ${kind}, such as ${example}`, value),
    { type: 'string', maxLength: example.length, pattern: form.source, examples: [example], ...schema },
  );
}

/** A phone number or its last digits, with any punctuation; at least one digit is required. */
export function phoneParameter(schema: Schema) {
  return parameter<string>(
    40,
    (value) =>
      /[0-9]/.test(value.normalize('NFKC')) ? value : failure('too_short', 'must have at least one digit', value),
    { type: 'string', minLength: 1, maxLength: 40, ...schema },
  );
}

export function integerParameter(min: number, max: number, fallback: number, schema: Schema) {
  return parameter<number>(
    longestWord,
    (value) => {
      const number = /^-?\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
      return number >= min && number <= max
        ? number
        : failure('out_of_range', `must be a whole number from ${min} to ${max}`, value);
    },
    { type: 'integer', minimum: min, maximum: max, default: fallback, ...schema },
  );
}

function notOneOf(values: readonly string[], value: string): Failure {
  return failure('invalid_enum', `must be one of ${values.join(', ')}`, value, nearest(value, values));
}

export function choiceParameter<const T extends string>(values: readonly T[], schema: Schema) {
  return parameter<T>(longestWord, (value) => values.find((choice) => choice === value) ?? notOneOf(values, value), {
    type: 'string',
    enum: values,
    ...schema,
  });
}

/** JSON, as agents send it, also has objects; one with a member `toString` has no text at all. */
const isPlain = (value: unknown): boolean => typeof value !== 'object';

/** Several of a closed set: a comma list, the parameter repeated, or both; the result is in the set's own order. */
export function choicesParameter<const T extends string>(values: readonly T[], schema: Schema) {
  return parsed<T[], T | readonly T[]>(
    (value) => {
      const typed: unknown[] = Array.isArray(value) ? value : [value];
      if (!typed.every(isPlain)) return failure('invalid_type', 'must be text', value);
      const parts = typed
        .map(String)
        .join(',')
        .split(',', values.length + 1);
      if (parts.length > values.length) {
        return failure(
          'too_many_items',
          `must have at most ${values.length} value${values.length > 1 ? 's' : ''}`,
          value,
        );
      }
      const wanted = new Set<string>();
      for (const part of parts) {
        const name = parseText(
          part,
          longestWord,
          (text) => values.find((choice) => choice === text) ?? notOneOf(values, text),
        );
        if (typeof name !== 'string') return name;
        wanted.add(name);
      }
      return values.filter((choice) => wanted.has(choice));
    },
    {
      type: 'array',
      items: { type: 'string', enum: values },
      maxItems: values.length,
      ...(values.length > 1 && { inHttp: 'Separate several with commas, or repeat the parameter.' }),
      ...schema,
    },
  ).optional();
}

export function instantParameter(schema: Schema) {
  return parameter<string>(longestWord, (value) => parseInstant(value) ?? notAnInstant(value), {
    type: 'string',
    format: 'date-time',
    maxLength: longestWord,
    examples: ['2026-03-01T00:00:00Z'],
    ...schema,
    description: `${schema.description} RFC 3339 with a time zone; a date alone means 00:00 UTC.`,
  });
}

/** `metadata[key]=value`, up to 5 of them, ANDed; the server's query parser passes them as one object. */
export const metadataParameter = parsed<Record<string, string>>(
  (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return failure('invalid_type', 'must name a key: metadata[key]=value', value);
    }
    const entries = Object.entries(value);
    if (entries.length > metadataLimits.filters) {
      return failure('too_many_items', `must have at most ${metadataLimits.filters} keys`, value);
    }
    const filters = new Map<string, string>();
    for (const [key, filter] of entries) {
      if (!metadataKeyForm.test(key)) return failure('invalid_characters', 'has a key that cannot exist', key);
      if (Array.isArray(filter)) return failure('too_many_items', `must be given once for ${key}`, filter);
      if (!isPlain(filter)) return failure('invalid_type', `must be text for ${key}`, filter);
      const result = parseText(String(filter), metadataLimits.valueLength, (text) => text);
      if (typeof result !== 'string') return result;
      filters.set(key, result);
    }
    return Object.fromEntries(filters);
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
