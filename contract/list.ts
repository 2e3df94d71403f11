/** The shape of every list: what can be asked of it, and the page that answers. */
import { z } from 'zod';
import { exampleCursor, exampleUrl } from './examples.ts';
import { failure } from './text.ts';
import {
  choiceParameter,
  instantParameter,
  integerParameter,
  metadataParameter,
  parameter,
  textParameter,
} from './parameters.ts';

export const pageSize = { min: 1, max: 100, default: 25 } as const;

/** The query of an operation that has none: what is sent all the same is refused by name. */
export const noParameters = z.strictObject({});

/** The query of a create: what to do where the externalId is taken. */
export function createQuery<const Choice extends string>(choices: readonly Choice[], description: string) {
  return z.strictObject({
    onConflict: choiceParameter(choices, { description, default: 'error', examples: ['return'] }),
  });
}

const limit = integerParameter(pageSize.min, pageSize.max, pageSize.default, {
  description: 'How many records a page holds.',
  examples: [25],
});
const cursor = parameter<string>(
  (value) => (value.length > 15_000 ? failure('too_long', 'is not a cursor of this list', value) : value),
  {
    type: 'string',
    maxLength: 8000,
    description:
      'Where the page starts: `pagination.nextCursor` of the page before. It carries sort and filters, which may be repeated or left out, but not changed.',
    examples: ['eyJzIjoiLWNyZWF0ZWRBdCJ9'],
  },
);
const since = (field: string) =>
  instantParameter({ description: `Only records whose \`${field}\` is this time or later.` });
const before = (field: string) =>
  instantParameter({ description: `Only records whose \`${field}\` is before this time.` });

/** The part of every list's query that no resource changes, with its own orders. */
export function listQuery<const Sort extends string>(sorts: readonly Sort[]) {
  return {
    limit,
    cursor,
    sort: choiceParameter(sorts, {
      description: 'The order; `-` means descending, and the id breaks ties.',
      default: '-createdAt',
      examples: ['-createdAt'],
    }),
    createdSince: since('createdAt'),
    createdBefore: before('createdAt'),
    updatedSince: since('updatedAt'),
    updatedBefore: before('updatedAt'),
    q: textParameter(100, {
      description: 'Search: each word must occur somewhere in the searched fields, whatever its case and accents.',
      examples: ['berglunds'],
    }),
    externalId: textParameter(255, { description: 'Exactly this externalId.', examples: ['crm-48213'] }),
    metadata: metadataParameter,
  };
}
export { since as sinceParameter, before as beforeParameter };

/** `sort` of what can be ordered by creation, change and the resource's own further field. */
export const sortsBy = <const Field extends string>(field: Field) =>
  ['createdAt', '-createdAt', 'updatedAt', '-updatedAt', field, `-${field}`] as const;

const pagination = z
  .object({
    limit: z
      .int()
      .min(pageSize.min)
      .max(pageSize.max)
      .meta({ description: 'The page size that was used.', examples: [25] }),
    hasMore: z.boolean().meta({ description: 'Whether another page follows.', examples: [true] }),
    nextCursor: z
      .string()
      .nullable()
      .meta({ description: '`cursor` of the next page; `null` on the last.', examples: [exampleCursor] }),
    nextUrl: z
      .string()
      .nullable()
      .meta({
        description: 'Address of the next page; `null` on the last.',
        examples: [`${exampleUrl}/v1/customers?cursor=${exampleCursor}`],
      }),
  })
  .meta({ id: 'Pagination', description: 'Where this page stands in its list.' });

export function page<T extends z.ZodType>(record: T, name: string) {
  return z
    .object({
      data: z
        .array(record)
        .max(pageSize.max)
        .meta({ description: 'The records of this page, in the order asked for.' }),
      pagination,
      syncedThrough: z
        .string()
        .nullable()
        .meta({
          description:
            'On lists sorted by `updatedAt`: the value to send as the next `updatedSince` once `hasMore` is false, so that no change is ever missed. `null` on other lists.',
          format: 'date-time',
          examples: ['2026-03-01T09:30:00.123Z'],
        }),
    })
    .meta({ id: `${name}List`, description: 'A page of records.' });
}
