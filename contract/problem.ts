/** Every failure, from 400 to 503, has the shape of RFC 9457. */
import { z } from 'zod';
import { exampleId, exampleUrl } from './examples.ts';
import { maximumErrors } from './limits.ts';
import { fieldCodes } from './problems/field-codes.ts';

const problemError = z
  .object({
    in: z
      .enum(['body', 'query', 'path', 'header'])
      .meta({ description: 'The part of the request that has the value.', examples: ['body'] }),
    field: z.string().meta({
      maxLength: 500,
      description: 'The field, parameter or header; dots separate nested names.',
      examples: ['address.country'],
    }),
    pointer: z
      .string()
      .nullable()
      .meta({
        maxLength: 1000,
        description: 'JSON Pointer (RFC 6901) into the body; `null` for other parts of the request.',
        examples: ['/address/country'],
      }),
    code: z.string().meta({
      maxLength: 50,
      description: `What is wrong, for programs. For an invalid field of a body, it is one of ${fieldCodes.map((code) => `\`${code}\``).join(', ')}; otherwise the code of a problem, such as \`unknown_parameter\`.`,
      examples: ['invalid_country'],
    }),
    message: z.string().meta({
      maxLength: 1000,
      description: 'Human-readable message, phrased to follow the field name.',
      examples: ['must be a two-letter country code (ISO 3166-1 alpha-2) such as DE'],
    }),
    suggestion: z
      .string()
      .optional()
      .meta({ maxLength: 200, description: 'The nearest valid name or value, if there is one.', examples: ['GB'] }),
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
    title: z
      .string()
      .meta({ maxLength: 100, description: 'The kind of problem, for people.', examples: ['Validation failed'] }),
    status: z
      .int()
      .min(400)
      .max(599)
      .meta({ description: 'The HTTP status.', examples: [422] }),
    detail: z.string().meta({
      maxLength: 4000,
      description: 'What went wrong in this request, and what to do.',
      examples: ['address.country must be a two-letter country code (ISO 3166-1 alpha-2) such as DE.'],
    }),
    code: z
      .string()
      .meta({ maxLength: 50, description: 'The kind of problem, for programs.', examples: ['validation_failed'] }),
    requestId: z.string().meta({
      maxLength: 30,
      description: 'The value of `X-Request-Id`, to give to support.',
      examples: [exampleId('req')],
    }),
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
    existingId: z
      .string()
      .optional()
      .meta({
        maxLength: 30,
        description:
          'With `external_id_taken`, `sku_taken` and `external_id_erased`: the id of the record that has the value, or had it.',
        examples: [exampleId('cus')],
      }),
    currentEtag: z
      .string()
      .optional()
      .meta({
        maxLength: 60,
        description: 'With `precondition_failed`: the current ETag of the record.',
        examples: ['"4-mm7yf3ab"'],
      }),
  })
  .meta({ id: 'Problem', description: 'A failure, as RFC 9457 `application/problem+json`.' });

export type Problem = z.infer<typeof problem>;
export type ProblemError = z.infer<typeof problemError>;
