/** Tags: a record's complete list, or the tags to add and remove. */
import { z } from 'zod';
import { alsoAccepted, bounded } from './parsed.ts';
import { failure, text } from './text.ts';

const tag = text(50, { description: 'A tag.', example: 'wholesale' });
export const maximumTags = 20;
const tagsMeta = {
  description: `Tags, in the order given: up to ${maximumTags}, unique ignoring case.`,
  maxItems: maximumTags,
  examples: [['wholesale', 'net-30']],
};

export const tags = z.array(tag).meta(tagsMeta);
/** The length is checked first: the elements of an overlong list are not checked. */
const tagList = bounded(maximumTags, z.array(tag).check(rejectRepeated));
const allTags = tagList.nullable();
const tagsChange = z.strictObject({ add: tagList.optional(), remove: tagList.optional() });
export type TagsChange = z.output<typeof tagsChange>;

/** All tags, none (`null`), or the tags to add to and remove from a record's own. */
export const tagsInput: z.ZodType<string[] | TagsChange, string[] | TagsChange | null> = z
  .any()
  .transform((value: unknown, { issues }) => {
    const isChange = typeof value === 'object' && value !== null && !Array.isArray(value);
    const { data, error } = (isChange ? tagsChange : allTags).safeParse(value);
    // Zod's types allow only its own codes; these issues have the same shape.
    issues.push(...((error?.issues ?? []) as never[]));
    return data ?? [];
  })
  .meta({
    ...tagsMeta,
    type: ['array', 'null'],
    items: { type: 'string', minLength: 1, maxLength: 50 },
    description: `${tagsMeta.description} A list replaces all tags. To keep the others, send \`{ "add": [...], "remove": [...] }\` instead.`,
  })
  .register(alsoAccepted, { alsoAccepts: ['TagsChange'] });

function rejectRepeated({ value, issues }: { value: string[]; issues: unknown[] }): void {
  const seen = new Set<string>();
  value.forEach((item, index) => {
    const folded = typeof item === 'string' ? item.toLowerCase() : '';
    if (folded && seen.has(folded)) {
      const repeated = failure('duplicate_item', 'is a duplicate (case is ignored)', item);
      issues.push({ ...repeated, path: [index] });
    }
    seen.add(folded);
  });
}
