/** Metadata: a caller's own data on a record, as keys and strings. */
import { z } from 'zod';
import { withoutExponent } from './decimal.ts';
import { metadataKeyPattern, metadataKeyRule, metadataLimits } from './limits.ts';
import { alsoAccepted, parsed } from './parsed.ts';
import { cleanText, failure } from './text.ts';
import type { Failure } from './text.ts';

const { keys, keyLength, valueLength } = metadataLimits;
const metadataSchema = {
  type: 'object',
  additionalProperties: { type: 'string', maxLength: valueLength },
  propertyNames: { pattern: '^[A-Za-z0-9_.-]{1,40}$', not: { enum: ['__proto__'] } },
  maxProperties: keys,
  description: `Your own key-value pairs: up to ${keys} keys (${metadataKeyRule}), each with a string of up to ${valueLength} characters.`,
  examples: [{ segment: 'retail', 'crm.owner': 'north' }],
};
const scalars = 'Numbers and booleans are accepted too, and become strings.';

export const metadata = z.record(z.string(), z.string()).meta(metadataSchema);

export function tooManyKeys(value: object): Failure | undefined {
  return Object.keys(value).length > keys
    ? failure('too_many_items', `must have at most ${keys} keys`, value)
    : undefined;
}

/** A patch may remove every stored key and set as many new ones; more than that cannot be valid. */
const keysOfPatch = 2 * keys;

function metadataEntry(key: string, value: unknown): string | null | Failure {
  if (key.length > keyLength) return failure('too_long', `is a key of more than ${keyLength} characters`, key);
  if (key === '__proto__') return failure('invalid_characters', 'is a reserved name; choose another key', key);
  if (!metadataKeyPattern.test(key))
    return failure('invalid_characters', `is not a valid key: ${metadataKeyRule}`, key);
  if (value === null) return null;
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
    return failure('invalid_type', 'must be a string', value);
  }
  if (typeof value === 'number' && !(Number.isFinite(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER)) {
    return failure('out_of_range', 'is too large to be represented exactly in JSON; send it as a string', value);
  }
  return cleanText(typeof value === 'number' ? withoutExponent(value) : String(value), valueLength, true);
}

export type MetadataInput = Record<string, string | number | boolean | null> | null;

/** A merge patch of metadata: key to string, or to null, which removes it; `null` as a whole removes every key. */
export const metadataPatch = parsed<Record<string, string | null> | null, MetadataInput>(
  (input, report) => {
    if (input === null) return null;
    if (typeof input !== 'object' || Array.isArray(input)) return failure('invalid_type', 'must be an object', input);
    const entries = Object.entries(input);
    if (entries.length > keysOfPatch) return failure('too_many_items', `must have at most ${keys} keys`, input);
    const merged = new Map<string, string | null>();
    for (const [key, value] of entries) {
      const entry = metadataEntry(key, value);
      if (entry === null || typeof entry === 'string') merged.set(key, entry);
      else report({ ...entry, path: [key] });
    }
    return Object.fromEntries(merged);
  },
  {
    ...metadataSchema,
    type: ['object', 'null'],
    additionalProperties: { type: ['string', 'null'], maxLength: valueLength },
    description: `${metadataSchema.description} ${scalars} \`null\` removes a key, or all of them.`,
  },
).register(alsoAccepted, { alsoAccepts: ['number', 'boolean'] });

/** Metadata on create. A key that is `null` is not set; if the create updates a record, the key is removed. */
export const metadataInput = metadataPatch
  .check(({ value, issues }) => {
    const problem = tooManyKeys(Object.values(value ?? {}).filter((entry) => entry !== null));
    if (problem) issues.push(problem);
  })
  .meta({ ...metadataPatch.meta() })
  .register(alsoAccepted, { alsoAccepts: ['number', 'boolean'] });
