/** Every failure, from 400 to 503, has the shape of RFC 9457. */
import { z } from 'zod';
import { exampleId, exampleUrl } from './examples.ts';
import { wholeNumber } from './fields.ts';
import { maximumErrors } from './limits.ts';
import { fieldCodes } from './problems/field-codes.ts';
import { responseText } from './text.ts';

const problemError = z
  .object({
    in: z
      .enum(['body', 'query', 'path', 'header'])
      .meta({ description: 'The part of the request that has the value.', examples: ['body'] }),
    field: responseText(500, 'The field, parameter or header; dots separate nested names.', 'address.country'),
    pointer: responseText(
      1000,
      'JSON Pointer (RFC 6901) into the body; `null` for other parts of the request.',
      '/address/country',
    ).nullable(),
    code: responseText(
      50,
      `What is wrong, for programs. For an invalid field of a body, it is one of ${fieldCodes.map((code) => `\`${code}\``).join(', ')}; otherwise the code of a problem, such as \`unknown_parameter\`.`,
      'invalid_country',
    ),
    message: responseText(
      1000,
      'Human-readable message, phrased to follow the field name.',
      'must be a two-letter country code (ISO 3166-1 alpha-2) such as DE',
    ),
    suggestion: responseText(200, 'The nearest valid name or value, if there is one.', 'GB').optional(),
  })
  .meta({ id: 'ProblemError', description: 'One thing that is wrong with a request.' });

export const problem = z
  .object({
    type: z.string().meta({
      format: 'uri',
      maxLength: 2000,
      description: 'A URL that identifies the kind of problem, and explains it.',
      examples: [`${exampleUrl}/docs/errors#validation_failed`],
    }),
    title: responseText(100, 'The kind of problem, for people.', 'Validation failed'),
    status: wholeNumber({ min: 400, max: 599 }, 'The HTTP status.', 422),
    detail: responseText(
      4000,
      'What went wrong in this request, and what to do.',
      'address.country must be a two-letter country code (ISO 3166-1 alpha-2) such as DE.',
    ),
    code: responseText(50, 'The kind of problem, for programs.', 'validation_failed'),
    requestId: responseText(30, 'The value of `X-Request-Id`, to give to support.', exampleId('req')),
    errors: z
      .array(problemError)
      .max(maximumErrors)
      .meta({
        description: 'Everything that is wrong, each with its location; `[]` if there is nothing to point to.',
        examples: [
          [
            {
              in: 'body',
              field: 'address.country',
              pointer: '/address/country',
              code: 'invalid_country',
              message: 'must be a two-letter country code (ISO 3166-1 alpha-2) such as DE',
              suggestion: 'GB',
            },
          ],
        ],
      }),
    existingId: responseText(
      30,
      'With `external_id_taken`, `sku_taken` and `external_id_erased`: the id of the record that has the value, or had it.',
      exampleId('cus'),
    ).optional(),
    currentEtag: responseText(
      60,
      'With `precondition_failed`: the current ETag of the record.',
      '"4-mm7yf3ab"',
    ).optional(),
  })
  .meta({ id: 'Problem', description: 'A failure, as RFC 9457 `application/problem+json`.' });

export type Problem = z.infer<typeof problem>;
export type ProblemError = z.infer<typeof problemError>;
