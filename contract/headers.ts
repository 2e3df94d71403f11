/** Request headers that change what an operation does. */
import { z } from 'zod';
import { inHttp } from './annotations.ts';
import { idempotencyHours, maximumHeaderBytes } from './limits.ts';
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
    description: `Makes retries safe: within ${idempotencyHours} hours, a repeated request with the same key and body returns the original response, and no second record is created. Use a new value, such as a UUID, for each record.`,
    minLength: 1,
    maxLength: 255,
  })
  .register(inHttp, { inHttp: 'The original response is repeated with `Idempotency-Replayed: true`.' });

const entityTag = String.raw`(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"`;
/** A list may have empty elements, such as a comma at its end (RFC 9110, 5.6.1.2). */
const entityTagList = new RegExp(String.raw`^(?:\s*\*\s*|[\s,]*${entityTag}(?:\s*,[\s,]*${entityTag})*[\s,]*)$`);

/**
 * The ETags in a header, without `W/`: an ETag identifies a version of a record, even if a proxy has compressed the
 * response. `*` stands for any version. Undefined if the header is malformed.
 */
export function entityTagsIn(header: string): '*' | string[] | undefined {
  if (!entityTagList.test(header)) return undefined;
  return header.trim() === '*' ? '*' : [...header.matchAll(/"[^"]*"/g)].map(([tag]) => tag);
}

/** `*`, or ETags in double quotes, separated by commas. */
const entityTags = (
  schema: z.ZodString,
  { written, ...meta }: { written: string; description: string; examples?: string[] },
) =>
  schema
    .meta({ ...meta, maxLength: maximumHeaderBytes })
    .register(inHttp, { inHttp: `One or more ETags in double quotes, separated by commas, or \`*\`. ${written}` });

const wellFormedTags = z.string().check(({ value, issues }) => {
  if (entityTagsIn(value) !== undefined) return;
  issues.push(failure('invalid_characters', 'must be * or ETags in double quotes, separated by commas', value));
});

/**
 * Each operation honors the ones it declares and rejects the others rather than ignoring them. If-Modified-Since and
 * If-Range are ignored, as RFC 9110 (13.1.3, 13.1.5) requires of a service without modification dates and ranges: they
 * can only save a transfer.
 */
export const conditionalHeaders = ['if-match', 'if-none-match', 'if-unmodified-since'] as const;

export const idempotent = z.object({ 'idempotency-key': idempotencyKey.optional() });
export const ifMatch = z.object({
  'if-match': entityTags(wellFormedTags, {
    description:
      'Changes the record only if its current `etag` is this one; otherwise fails with `precondition_failed`.',
    written: 'The status of that problem is 412. `W/` in front of an ETag is ignored.',
    // Matches any version, because a tool may send every example.
    examples: ['*'],
  }).optional(),
});
/** A malformed value is ignored, because this header can only save a transfer. */
export const ifNoneMatch = z.object({
  'if-none-match': entityTags(z.string(), {
    description: 'Returns the record only if its current `etag` is not this one.',
    written: 'If it is, the response is 304 without a body. A malformed value is ignored.',
  }).optional(),
});
