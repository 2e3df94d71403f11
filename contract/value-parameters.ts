/** Query parameters in specific formats: email addresses, ids, phone numbers and codes. */
import { exampleId } from './examples.ts';
import { codeForm, emailPattern, idPattern, digitsIn, prefixes } from './fields.ts';
import type { Codes, Kind } from './fields.ts';
import { maximumValueLength, parameter, parseList, textParameter, withPlus } from './parameters.ts';
import type { Schema } from './parameters.ts';
import { parsed } from './parsed.ts';
import { asciiUpperCase, failure } from './text.ts';

/** An email address. A `+` that a tool did not encode arrives as a space and would match nothing. */
export function emailParameter(schema: Schema) {
  return textParameter(254, schema, (value, typed) => {
    if (emailPattern.test(value) && !typed.startsWith(' ')) return value;
    const hasLostPlus = emailPattern.test(typed.trimEnd().replaceAll(' ', '+'));
    const advice = hasLostPlus ? ', without a space; in a URL, write a + as %2B' : ' such as ana@example.com';
    return failure('invalid_email', `must be one email address${advice}`, value);
  });
}

/** The id of a record. A malformed id is an error rather than a filter that matches nothing. */
export function idParameter(kind: Kind, schema: Schema) {
  const form = idPattern(kind);
  const example = exampleId(prefixes[kind]);
  return parameter<string>(
    maximumValueLength,
    (value) =>
      form.test(value) ? value : failure('invalid_type', `must be the id of a ${kind}, such as ${example}`, value),
    { type: 'string', maxLength: example.length, pattern: form.source, examples: [example], ...schema },
  );
}

/** A phone number or its last digits, with any punctuation; at least one digit is required. */
export function phoneParameter(schema: Schema) {
  const max = 40;
  return textParameter(max, schema, (value, typed) =>
    digitsIn(value) === '' ? failure('too_short', 'must have at least one digit', value) : withPlus(value, typed, max),
  );
}

/** How many ids a request may list: as many as a page can hold. */
const maximumIds = 100;

/** Ids of records; their order does not matter. */
export function idsParameter(kind: Kind) {
  const form = idPattern(kind);
  const example = exampleId(prefixes[kind]);
  const pattern = { type: 'string', maxLength: example.length, pattern: form.source };
  const idIn = (part: string) => {
    const typed = part.trim();
    return form.test(typed)
      ? typed
      : failure('invalid_type', `must be ids of ${kind}s, such as ${example}, separated by commas`, typed);
  };
  return parsed<string[], string | readonly string[]>(
    (value) => {
      const ids = parseList(value, { most: maximumIds, word: 'id' }, idIn);
      return ids instanceof Set ? [...ids].toSorted() : ids;
    },
    {
      type: 'array',
      items: pattern,
      maxItems: maximumIds,
      description: `Only the ${kind}s with these ids; ids that do not exist are left out.`,
    },
  ).optional();
}

export function codeParameter(codes: Codes, schema: Schema) {
  return parameter<string>(
    maximumValueLength,
    (value) => {
      const code = asciiUpperCase(value);
      return codes.all.has(code) ? code : codes.missing(value);
    },
    { type: 'string', ...codeForm(codes), ...schema },
  );
}
