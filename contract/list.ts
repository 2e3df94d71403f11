/** The shape of every list: its parameters, and the page that it returns. */
import { z } from 'zod';
import { timestamp, wholeNumber } from './fields.ts';
import type { Kind } from './fields.ts';
import { exampleCursor, exampleUrl } from './examples.ts';
import { maximumWords } from './limits.ts';
import {
  choiceParameter,
  instantParameter,
  integerParameter,
  metadataParameter,
  searchParameter,
  textParameter,
} from './parameters.ts';
import { responseText } from './text.ts';
import { idsParameter } from './value-parameters.ts';

export const pageSize = { min: 1, max: 100, default: 25 } as const;

/** The query of an operation without parameters: anything sent is rejected by name. */
export const noParameters = z.strictObject({});

/** The query of a create: what to do if another record has the externalId. */
export function createQuery<const Choice extends string>(choices: readonly Choice[], description: string) {
  return z.strictObject({
    onConflict: choiceParameter(choices, {
      description,
      inHttp: 'If the record exists, the status is 200 instead of 201; with `error`, it is 409.',
      default: 'error',
      examples: ['error'],
    }),
  });
}

const limit = integerParameter(pageSize.min, pageSize.max, pageSize.default, {
  description: 'The number of records on a page.',
  emptyIsAbsent: true,
  examples: [25],
});
export const longestCursor = 8000;
const cursor = textParameter(longestCursor, {
  description:
    'Where the page starts: `pagination.nextCursor` of the previous page. It carries the sort and filters. You may repeat or omit them, but not change them.',
  emptyIsAbsent: true,
  // Otherwise, a tool that sends every parameter makes up a cursor.
  minLength: 0,
  default: '',
});
/** A tool that imports the document may send every example at once: together they select the example records. */
const filterTimes = { since: '2026-01-01T00:00:00Z', before: '2040-01-01T00:00:00Z' } as const;

export const sinceParameter = (field: string) =>
  instantParameter({
    description: `Only records whose \`${field}\` is at or after this time.`,
    examples: [filterTimes.since],
  });
export const beforeParameter = (field: string) =>
  instantParameter({
    description: `Only records whose \`${field}\` is before this time.`,
    examples: [filterTimes.before],
  });

/** The query parameters that all lists share; `searched` names the fields that `q` searches. */
export function listQuery<const Sort extends string>(
  kind: Kind,
  sorts: readonly Sort[],
  { searched, searchExample }: { searched: string; searchExample: string },
) {
  return {
    limit,
    cursor,
    sort: choiceParameter(sorts, {
      description: 'The order; `-` means descending. Ties are broken by id.',
      emptyIsAbsent: true,
      default: '-createdAt',
      examples: ['-createdAt'],
    }),
    createdSince: sinceParameter('createdAt'),
    createdBefore: beforeParameter('createdAt'),
    updatedSince: sinceParameter('updatedAt'),
    updatedBefore: beforeParameter('updatedAt'),
    q: searchParameter(100, {
      description: `Search in ${searched}. Every word must be found in one of these fields; case, accents and punctuation are ignored. Up to ${maximumWords} words.`,
      examples: [searchExample],
    }),
    ids: idsParameter(kind),
    externalId: textParameter(255, {
      description: 'Only the record with exactly this externalId.',
      examples: ['crm-48213'],
    }),
    metadata: metadataParameter,
  };
}

/** Sorts by creation, by last change, and by one more field of the resource. */
export const sortsBy = <const Field extends string>(field: Field) =>
  ['createdAt', '-createdAt', 'updatedAt', '-updatedAt', field, `-${field}`] as const;

const pagination = z
  .object({
    limit: wholeNumber(pageSize, 'The number of records per page, as requested.', 25),
    hasMore: z.boolean().meta({ description: 'Whether another page follows.', examples: [true] }),
    nextCursor: responseText(
      longestCursor,
      'The `cursor` of the next page; `null` on the last page.',
      exampleCursor,
    ).nullable(),
    nextUrl: z
      .string()
      .nullable()
      .meta({
        format: 'uri',
        maxLength: longestCursor + 2000,
        description: 'The URL of the next page; `null` on the last page.',
        examples: [`${exampleUrl}/v1/customers?cursor=${exampleCursor}`],
      }),
  })
  .meta({ id: 'Pagination', description: 'How to get the next page.' });

export function page<T extends z.ZodType>(record: T, name: string) {
  return z
    .object({
      data: z
        .array(record)
        .max(pageSize.max)
        .meta({ description: 'The records of this page, in the requested order.' }),
      pagination,
      syncedThrough: timestamp(
        'On lists sorted by `updatedAt`: when `hasMore` is false, use this value as the next `updatedSince` so that you miss no changes. `null` on other lists.',
      ).nullable(),
    })
    .meta({ id: `${name}List`, description: `A page of ${name.toLowerCase()}s.` });
}
