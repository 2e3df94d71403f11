/** Domain-specific scalars and small objects that records share. */
import { z } from 'zod';
import { exampleId } from './examples.ts';
import { countryCodes, currencyDigits } from './codes.ts';
import { countryCodeOf } from './countries.ts';
import { nullable, optional, shapeOf } from './record.ts';
import { failure, text, textWithRule } from './text.ts';
import type { Failure, TextOptions } from './text.ts';
import { asUri, isUri } from './uri.ts';

export const prefixes = {
  customer: 'cus',
  proposal: 'prp',
  item: 'itm',
  line: 'lin',
  organization: 'org',
  member: 'mem',
  key: 'key',
  request: 'req',
  endpoint: 'whe',
  event: 'evt',
} as const;
export type Kind = keyof typeof prefixes;

/** A TypeID: prefix, `_`, and a UUIDv7 as 26 base32 characters. */
export const idPattern = (kind: Kind) => new RegExp(`^${prefixes[kind]}_[0-7][0-9a-hjkmnp-tv-z]{25}$`);

export function id(kind: Kind, description = 'Unique id; it never changes.') {
  const prefix = prefixes[kind];
  const example = exampleId(prefix);
  return z
    .string()
    .regex(idPattern(kind), `must be an id such as ${example}`)
    .meta({ description, maxLength: prefix.length + 27, examples: [example] });
}

/** Longer than any id: published for tools that require a maximum length. */
const longestPathId = 100;

/** An id in a path: any text, because a malformed id counts as unknown (404), not as a malformed request. */
export function pathId(kind: Kind) {
  return z
    .string()
    .meta({ description: `Id of the ${kind}.`, maxLength: longestPathId, examples: [exampleId(prefixes[kind])] });
}

export const erasedAt = timestamp('', '2026-03-01T09:30:00.123Z')
  .nullable()
  .meta({
    description:
      'When the personal data of this customer was erased on request; `null` if it was not. Erase your copies, too; an erased customer can no longer be changed.',
    examples: [null],
  });

/** The ETag of the record's current version, quotes included. */
export const etag = z.string().meta({
  description:
    'Identifies this version of the record. Send it as `If-Match` to change the record only if nobody else has, or as `If-None-Match` to fetch it only if it has changed.',
  maxLength: 60,
  examples: ['"3-mm7ydq6j"'],
});

/** RFC 3339 in UTC with exactly three decimals. */
export function timestamp(description: string, example = '2026-03-01T09:30:00.123Z') {
  return z
    .string()
    .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    .meta({ description, format: 'date-time', maxLength: 24, examples: [example] });
}

/** A whole number in a response. */
export const wholeNumber = (
  { min, max = Number.MAX_SAFE_INTEGER }: { min: number; max?: number },
  description: string,
  example: number,
) =>
  z
    .int()
    .min(min)
    .max(max)
    .meta({ description, examples: [example] });

/** Exactly one address, without a display name. */
export const emailPattern =
  /^(?!\.)(?!.*\.\.)[^\s@"(),:;<>[\]\\]{1,64}(?<!\.)@(?:[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}-]{0,61}[\p{L}\p{N}\p{M}])?\.)+(?!-)[\p{L}\p{N}\p{M}-]{2,63}(?<!-)$/u;

export function email(options: TextOptions) {
  const message = 'must be one email address such as ana@example.com';
  const rule = (value: string) => (emailPattern.test(value) ? undefined : failure('invalid_email', message, value));
  return textWithRule(rule, 254, { ...options, format: 'idn-email' });
}

/** The digits of a phone number, in any script and typed with any punctuation. */
export function digitsIn(value: string): string {
  return value.normalize('NFKC').replaceAll(/\P{Nd}/gu, '');
}

export function phone(options: TextOptions) {
  const rule = (value: string) =>
    [...digitsIn(value)].length >= 3 ? undefined : failure('too_short', 'must have at least 3 digits', value);
  return textWithRule(rule, 40, options);
}

export function url(schemes: readonly ('http' | 'https')[], max: number, options: TextOptions) {
  const form = new RegExp(`^(?:${schemes.join('|')})://[^\\s/?#]`, 'i');
  const message = `must be an absolute URL starting with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`;
  const rule = (value: string) => {
    const hasForm = form.test(value);
    if (hasForm && /\s/.test(value)) return failure('invalid_url', 'must not contain spaces: write %20', value);
    const target = hasForm ? URL.parse(value) : null;
    if (!target || !isUri(asUri(value))) return failure('invalid_url', message, value);
    if (asUri(value).length > max)
      return failure('too_long', `must have at most ${max} characters when encoded`, value);
    // A password would be visible to everyone who reads the record, and the error must not repeat it.
    if (target.username === '' && target.password === '') return undefined;
    return failure('invalid_url', 'must not contain a user name or password', '');
  };
  const typed = textWithRule(rule, max, { ...options, format: 'uri' });
  return typed.overwrite(asUri).meta({ ...typed.meta() });
}

/** A closed list of codes of one length, and what is wrong with a text that is not among them. */
export type Codes = { all: { has(code: string): boolean }; length: number; missing: (value: string) => Failure };

/** How a code may be written, for the published documents. */
export const codeForm = ({ length }: Codes) => ({
  minLength: length,
  maxLength: length,
  pattern: `^[A-Za-z]{${length}}$`,
});

export const currencies: Codes = {
  all: currencyDigits,
  length: 3,
  missing: (value) => failure('invalid_currency', 'must be an ISO 4217 code such as USD', value),
};

export const countries: Codes = {
  all: countryCodes,
  length: 2,
  missing(value) {
    const message = 'must be a two-letter country code (ISO 3166-1 alpha-2) such as DE';
    return failure('invalid_country', message, value, countryCodeOf(value));
  },
};

/** A code from a closed list, in either case; the result is in upper case. Overlong texts are not looked up. */
function codeIn(codes: Codes, description: string, example: string) {
  const rule = (value: string) => (codes.all.has(value) ? undefined : codes.missing(value));
  return textWithRule(rule, 100, { description, example, upperCase: true }).meta(codeForm(codes));
}

/** A code in a response. */
function codeOf({ length }: Codes, description: string, example: string) {
  return z.string().meta({ description, examples: [example], maxLength: length, pattern: `^[A-Z]{${length}}$` });
}

export const currency = codeOf(currencies, 'ISO 4217 currency code, in upper case.', 'USD');
export const currencyInput = codeIn(
  currencies,
  'ISO 4217 currency code; lower case is accepted and stored in upper case.',
  'USD',
);

const country = codeOf(countries, 'Two-letter country code (ISO 3166-1 alpha-2).', 'DE');
const countryInput = codeIn(
  countries,
  'Two-letter country code (ISO 3166-1 alpha-2); lower case is accepted and stored in upper case.',
  'DE',
);

const addressFields = {
  line1: optional(text(200, { description: 'Street and number.', example: 'Obere Str. 57' })),
  line2: optional(text(200, { description: 'Building, floor, suite.', example: 'Hinterhaus' })),
  city: optional(text(200, { description: 'City or town.', example: 'Berlin' })),
  region: optional(text(200, { description: 'State, province or county.', example: 'Berlin' })),
  postalCode: optional(text(20, { description: 'Postal code, in the form used in that country.', example: '12209' })),
  country: nullable(country, countryInput),
};

export const address = z
  .object(shapeOf(addressFields, 'record'))
  .meta({ id: 'Address', description: 'A postal address; `null` if every part of it is `null`.' });
export const addressInput = z.strictObject(shapeOf(addressFields, 'create')).meta({
  id: 'AddressInput',
  description: 'A postal address. Absent, `null` and empty parts are treated as unknown.',
});
export const addressPatch = z.strictObject(shapeOf(addressFields, 'update')).meta({
  id: 'AddressPatch',
  description: 'The parts to change. An absent part keeps its value, and `null` clears it.',
});

export const externalId = text(255, {
  description: 'The id of this record in your own system; unique per resource, case-sensitive.',
  example: 'crm-48213',
});
