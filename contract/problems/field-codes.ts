/** What can be wrong with one field of a body, with the meaning and remedy of each code for the documentation. */
import { metadataKeyRule } from '../limits.ts';

export const fieldCatalog = {
  required: { meaning: 'The field is missing.', remedy: 'Give it a value.' },
  invalid_type: {
    meaning:
      'The value has the wrong type: a number instead of text, `null` where a value is required, a time that is not RFC 3339.',
    remedy: 'Send the type that `message` names.',
  },
  too_short: {
    meaning: 'The text is empty or too short.',
    remedy: 'In a PATCH, leave the field out to keep its value and send `null` to clear it.',
  },
  too_long: {
    meaning: 'The text has more characters than the field allows.',
    remedy: 'Shorten it; the limits are in the [reference](/docs/reference).',
  },
  invalid_email: {
    meaning: 'The text is not a single email address.',
    remedy: 'Send the bare address: no display name, no second address.',
  },
  invalid_url: {
    meaning: 'The text is not an absolute URL with an allowed scheme.',
    remedy: 'Start with `https://`; a website may also be `http://`. Write spaces as `%20`.',
  },
  invalid_country: {
    meaning: 'The text is not a two-letter country code (ISO 3166-1 alpha-2).',
    remedy: 'Send `DE`, not `Germany`; `GB`, not `UK`.',
  },
  invalid_currency: { meaning: 'The text is not an ISO 4217 code.', remedy: 'Send `USD`, not `$` or `US Dollar`.' },
  invalid_decimal: {
    meaning: 'The text is not a decimal number.',
    remedy: 'Send digits and one dot: `"1250.00"`. No thousands separator, comma, exponent or currency sign.',
  },
  too_many_decimals: {
    meaning: 'The number has more than 4 decimals.',
    remedy: 'Round it, and send it as a string; see [Money](money.md).',
  },
  out_of_range: {
    meaning: 'The number is below or above what the field allows.',
    remedy: '`message` states both limits.',
  },
  invalid_enum: {
    meaning: 'The value is not one of the allowed values.',
    remedy: '`message` lists them; `suggestion` has the nearest.',
  },
  unknown_field: {
    meaning: 'The record has no such field. It is rejected so that nothing you send is silently lost.',
    remedy: 'Correct the name; `suggestion` has the nearest. Put your own data into `metadata`.',
  },
  read_only_field: {
    meaning: 'The server sets this field.',
    remedy:
      'Leave it out. A PATCH may contain it as long as it has the stored value, so that you can send a record back whole.',
  },
  invalid_characters: {
    meaning:
      'The text has control characters, half of a surrogate pair, or a long run of combining marks; or a `metadata` key has a space or another character that keys may not have.',
    remedy: `Remove them; long texts may have tabs and line breaks. Check the keys of \`metadata\` (${metadataKeyRule}).`,
  },
  too_many_items: {
    meaning: 'The list or object has more entries than allowed.',
    remedy: '`message` has the limit.',
  },
  duplicate_item: { meaning: 'The list has the same entry twice, ignoring case.', remedy: 'Remove the duplicate.' },
};

/** What is wrong with one field or parameter. */
export type FieldCode = keyof typeof fieldCatalog;

// Object.keys forgets that it returns the table's own names.
export const fieldCodes = Object.keys(fieldCatalog) as FieldCode[];
