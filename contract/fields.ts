/** Scalars and small objects with a meaning of their own, shared by the records. */
import { z } from 'zod';
import { exampleId } from './examples.ts';
import { countryCodes, currencyDigits } from './codes.ts';
import { alsoAccepted, eachClearable, eachEmptyIsAbsent, eachNullable, parsed } from './parsed.ts';
import { codePoints, failure, normalise, text, textThat } from './text.ts';
import type { TextOptions } from './text.ts';

export const prefixes = {
  customer: 'cus',
  proposal: 'prp',
  item: 'itm',
  line: 'lin',
  organization: 'org',
  member: 'mem',
  key: 'key',
  request: 'req',
} as const;
export type Kind = keyof typeof prefixes;

/** A TypeID: prefix, `_`, and 26 base32 characters of a UUIDv7. */
export function id(kind: Kind, description = 'Unique id; it never changes.') {
  const prefix = prefixes[kind];
  return z
    .string()
    .regex(new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`))
    .meta({ description, maxLength: prefix.length + 27, examples: [exampleId(prefix)] });
}

/** An id in a path: any text, because a malformed id is an unknown one (404), not a malformed request. */
export function pathId(kind: Kind) {
  return z.string().meta({ description: `Id of the ${kind}.`, examples: [exampleId(prefixes[kind])] });
}

/** RFC 3339 in UTC with exactly three decimals. */
export function timestamp(description: string, example = '2026-03-01T09:30:00.123Z') {
  return z
    .string()
    .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    .meta({ description, format: 'date-time', maxLength: 24, examples: [example] });
}

const emailForm =
  /^(?!\.)(?!.*\.\.)[^\s@"(),:;<>[\]\\]{1,64}(?<!\.)@(?:[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}-]{0,61}[\p{L}\p{N}\p{M}])?\.)+[\p{L}\p{N}\p{M}-]{2,63}$/u;

export function email(options: TextOptions) {
  const refusal = 'must be one e-mail address such as ana@example.com';
  return textThat((value) => (emailForm.test(value) ? undefined : failure('invalid_email', refusal, value)), 254, {
    ...options,
    format: 'email',
  });
}

/** The digits of a phone number, whatever script and punctuation they were typed in. */
export function phoneDigits(value: string): string {
  return value.normalize('NFKC').replaceAll(/[^0-9]/g, '');
}

export function phone(options: TextOptions) {
  return textThat(
    (value) =>
      phoneDigits(value).length >= 3 ? undefined : failure('too_short', 'must have at least 3 digits', value),
    40,
    options,
  );
}

export function url(schemes: readonly ('http' | 'https')[], max: number, options: TextOptions) {
  const form = new RegExp(`^(?:${schemes.join('|')})://[^\\s/?#]`, 'i');
  const refusal = `must be an absolute URL that starts with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`;
  return textThat(
    (value) =>
      form.test(value) && !/\s/.test(value) && URL.canParse(value) ? undefined : failure('invalid_url', refusal, value),
    max,
    { ...options, format: 'uri' },
  );
}

export const currency = textThat(
  (value) => {
    if (currencyDigits.has(value)) return undefined;
    const upper = value.toUpperCase();
    const suggestion = currencyDigits.has(upper) ? upper : undefined;
    return failure('invalid_currency', 'must be an ISO 4217 code in upper case such as USD', value, suggestion);
  },
  1000,
  { description: 'ISO 4217 currency code, upper case.', example: 'USD' },
).meta({
  description: 'ISO 4217 currency code, upper case.',
  examples: ['USD'],
  minLength: 3,
  maxLength: 3,
  pattern: '^[A-Z]{3}$',
});

const country = text(1000, { description: '' })
  .overwrite((value) => value.toUpperCase())
  .check((context) => {
    if (countryCodes.has(context.value) || context.issues.length > 0) return;
    const suggestion = context.value === 'UK' ? 'GB' : undefined;
    const refusal = 'must be an ISO 3166-1 alpha-2 code such as DE';
    context.issues.push(failure('invalid_country', refusal, context.value, suggestion));
  })
  .meta({
    description: 'ISO 3166-1 alpha-2 country code; lower case is accepted and stored in upper case.',
    examples: ['DE'],
    minLength: 2,
    maxLength: 2,
    pattern: '^[A-Za-z]{2}$',
  });

const addressFields = {
  line1: text(200, { description: 'Street and number.', example: 'Obere Str. 57' }),
  line2: text(200, { description: 'Building, floor, suite.', example: 'Hinterhaus' }),
  city: text(200, { description: 'City or town.', example: 'Berlin' }),
  region: text(200, { description: 'State, province or county.', example: 'Berlin' }),
  postalCode: text(20, { description: 'Postal code, as it is written there.', example: '12209' }),
  country,
};

const addressDescription = 'A postal address; `null` where no part of it is known.';
export const address = z.object(eachNullable(addressFields)).meta({ id: 'Address', description: addressDescription });
export const addressInput = z
  .strictObject(eachEmptyIsAbsent(addressFields))
  .meta({ id: 'AddressInput', description: addressDescription });
export const addressPatch = z
  .strictObject(eachClearable(addressFields))
  .meta({ id: 'AddressPatch', description: 'The parts to change; an absent part stays, `null` clears it.' });

export const externalId = text(255, {
  description: 'Your own id of this record in another system; unique per resource, case-sensitive.',
  example: 'crm-48213',
});

export const tag = text(50, { description: 'A label.', example: 'wholesale' });
export const maximumTags = 20;
const tagsDescription = `Labels, in the order given; up to ${maximumTags}, unique whatever their case.`;

export const tags = z
  .array(tag)
  .meta({ description: tagsDescription, maxItems: maximumTags, examples: [['wholesale', 'net-30']] });
export const tagsInput = z
  .array(tag)
  .check((context) => {
    const { value } = context;
    if (value.length > maximumTags) {
      context.issues.push(failure('too_many_items', `must have at most ${maximumTags} items`, value));
    }
    const seen = new Set<string>();
    value.slice(0, maximumTags).forEach((item, index) => {
      const folded = typeof item === 'string' ? item.toLowerCase() : '';
      if (folded && seen.has(folded)) {
        context.issues.push({
          ...failure('duplicate_item', 'stands in the list twice (case does not count)', item),
          path: [index],
        });
      }
      seen.add(folded);
    });
  })
  .meta({ description: tagsDescription, maxItems: maximumTags, examples: [['wholesale', 'net-30']] })
  .nullable()
  .transform((value) => value ?? []);

const metadataLimits = { keys: 50, key: 40, value: 500 };
const metadataKey = /^[A-Za-z0-9_.-]{1,40}$/;
const metadataSchema = {
  type: 'object',
  additionalProperties: { type: 'string', maxLength: metadataLimits.value },
  propertyNames: { pattern: metadataKey.source },
  maxProperties: metadataLimits.keys,
  description: 'Your own data: up to 50 keys (1..40 of `A-Z a-z 0-9 _ . -`) to strings of up to 500 characters.',
  examples: [{ segment: 'retail', 'crm.owner': 'north' }],
};
const metadataScalars = 'Numbers and booleans are accepted too, and become strings.';

export const metadata = z.record(z.string(), z.string()).meta(metadataSchema);

export function tooManyKeys(value: object) {
  return Object.keys(value).length > metadataLimits.keys
    ? failure('too_many_items', `must have at most ${metadataLimits.keys} keys`, value)
    : undefined;
}

function metadataEntry(key: string, value: unknown) {
  if (key.length > metadataLimits.key)
    return failure('too_long', `is a key of more than ${metadataLimits.key} characters`, key);
  // `__proto__` would vanish from a plain object, so that it can never be stored.
  if (!metadataKey.test(key) || key === '__proto__') {
    return failure('invalid_characters', 'is not a key of 1..40 of A-Z a-z 0-9 _ . -', key);
  }
  if (value === null) return null;
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
    return failure('invalid_type', 'must be a string', value);
  }
  if (typeof value === 'number' && !(Number.isFinite(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER)) {
    return failure('out_of_range', 'is a larger number than JSON carries exactly; send it as a string', value);
  }
  const string = normalise(String(value).replaceAll('\r\n', '\n'));
  if (!string.isWellFormed() || /(?![\t\n])\p{Cc}/u.test(string)) {
    return failure('invalid_characters', 'must not contain control characters or lone surrogates', value);
  }
  return codePoints(string) > metadataLimits.value
    ? failure('too_long', `must have at most ${metadataLimits.value} characters`, value)
    : string;
}

export type MetadataInput = Record<string, string | number | boolean | null> | null;

/** A merge patch of metadata: key to string, or to null, which removes it; `null` as a whole removes every key. */
export const metadataPatch: z.ZodType<Record<string, string | null> | null, MetadataInput> = z
  .any()
  .transform((input: unknown, context) => {
    if (input === null) return null;
    if (typeof input !== 'object' || Array.isArray(input)) {
      context.issues.push(failure('invalid_type', 'must be an object', input));
      return z.NEVER;
    }
    const merged = new Map<string, string | null>();
    for (const [key, value] of Object.entries(input)) {
      const entry = metadataEntry(key, value);
      if (entry === null || typeof entry === 'string') merged.set(key, entry);
      else context.issues.push({ ...entry, path: [key] });
    }
    return Object.fromEntries(merged);
  })
  .meta({
    ...metadataSchema,
    type: ['object', 'null'],
    additionalProperties: { type: ['string', 'null'], maxLength: metadataLimits.value },
    description: `${metadataSchema.description} ${metadataScalars} \`null\` removes a key, or all of them.`,
  })
  .register(alsoAccepted, { alsoAccepts: ['number', 'boolean'] });

/** Metadata on create: `null`, as a whole or for a key, means that there is none. */
export const metadataInput: z.ZodType<Record<string, string>, MetadataInput> = metadataPatch
  .transform((patch, context) => {
    const present = Object.entries(patch ?? {}).filter((entry): entry is [string, string] => entry[1] !== null);
    const problem = tooManyKeys(present);
    if (problem) context.issues.push(problem);
    return Object.fromEntries(present);
  })
  .meta({
    ...metadataSchema,
    type: ['object', 'null'],
    description: `${metadataSchema.description} ${metadataScalars}`,
  })
  .register(alsoAccepted, { alsoAccepts: ['number', 'boolean', 'null'] });

/** A field that only the server sets: a PATCH may carry it while it equals what is stored. */
export const readOnly = <T>(field: z.ZodType<T>) =>
  parsed<unknown, T>((value) => value, { ...field.meta(), readOnly: true, type: 'string' }).optional();
