/** Query parameters whose values have a form of their own: ids, email addresses and codes. */
import { countryCodes, currencyDigits } from './codes.ts';
import { countryCodeOf } from './countries.ts';
import { exampleId } from './examples.ts';
import { idForm, prefixes } from './fields.ts';
import type { Kind } from './fields.ts';
import { longestWord, parameter } from './parameters.ts';
import type { Schema } from './parameters.ts';
import { parsed } from './parsed.ts';
import { asciiUpperCase, failure } from './text.ts';
import type { Failure } from './text.ts';

/** How many records may be named at once: as many as a page can have. */
const maximumIds = 100;

/** Ids of records: a comma list, the parameter repeated, or both; the order does not matter. */
export function idsParameter(kind: Kind) {
  const form = idForm(kind);
  const example = exampleId(prefixes[kind]);
  const pattern = { type: 'string', maxLength: example.length, pattern: form.source };
  return parsed<string[], string | readonly string[]>(
    (value) => {
      const parts = (Array.isArray(value) ? value : [value])
        .map(String)
        .join(',')
        .split(',', maximumIds + 1);
      if (parts.length > maximumIds) return failure('too_many_items', `must have at most ${maximumIds} ids`, value);
      const ids = parts.map((part) => part.trim());
      const wrong = ids.find((id) => !form.test(id));
      if (wrong === undefined) return [...new Set(ids)].toSorted();
      return failure('invalid_type', `must be ids of ${kind}s, such as ${example}, separated by commas`, wrong);
    },
    {
      type: 'array',
      items: pattern,
      maxItems: maximumIds,
      description: `Only the ${kind}s with these ids; ids that do not exist are left out.`,
    },
  ).optional();
}

const codeParameter = (
  codes: { has(code: string): boolean },
  length: number,
  wrong: (value: string) => Failure,
  schema: Schema,
) =>
  parameter<string>(
    longestWord,
    (value) => {
      const code = asciiUpperCase(value);
      return codes.has(code) ? code : wrong(value);
    },
    { type: 'string', minLength: length, maxLength: length, pattern: `^[A-Za-z]{${length}}$`, ...schema },
  );

export const currencyParameter = (schema: Schema) =>
  codeParameter(
    currencyDigits,
    3,
    (value) => failure('invalid_currency', 'must be an ISO 4217 code such as USD', value),
    schema,
  );

export const countryParameter = (schema: Schema) =>
  codeParameter(
    countryCodes,
    2,
    (value) =>
      failure(
        'invalid_country',
        'must be a two-letter country code (ISO 3166-1 alpha-2) such as DE',
        value,
        countryCodeOf(value),
      ),
    schema,
  );
