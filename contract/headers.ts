/** Request headers that change what an operation does. */
import { z } from 'zod';
import { maximumHeaderBytes } from './limits.ts';
import { failure } from './text.ts';

/** `"key"` and `key` are the same. */
const idempotencyKey = z
  .string()
  .overwrite((value) => (/^".*"$/.test(value) ? value.slice(1, -1) : value))
  .check((context) => {
    if (/^[\x20-\x7e]{1,255}$/.test(context.value)) return;
    context.issues.push(failure('invalid_characters', 'must have 1 to 255 printable ASCII characters', context.value));
  })
  .meta({
    description:
      'Makes retries safe: a request repeated with the same key and body within 24 hours returns the original response, with `Idempotency-Replayed: true`, and nothing is created twice. Use a new value, such as a UUID, for each record.',
    minLength: 1,
    maxLength: 255,
  });

const entityTag = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/;

/** `*`, or ETags in double quotes, separated by commas. */
const entityTags = (description: string) =>
  z
    .string()
    .check((context) => {
      const { value } = context;
      if (value.trim() === '*' || value.split(',').every((tag) => entityTag.test(tag.trim()))) return;
      context.issues.push(
        failure('invalid_characters', 'must be * or ETags in double quotes, separated by commas', value),
      );
    })
    .meta({ description, maxLength: maximumHeaderBytes });

export const idempotent = z.object({ 'idempotency-key': idempotencyKey.optional() });
export const ifMatch = z.object({
  'if-match': entityTags(
    'Changes the record only if its current ETag is one of these; otherwise responds with 412.',
  ).optional(),
});
export const ifNoneMatch = z.object({
  'if-none-match': entityTags('Responds with 304 and no body if the record’s current ETag is one of these.').optional(),
});
