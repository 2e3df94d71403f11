/** Tags: replaced as a whole, or changed one by one. */
import { maximumTags } from '../../contract/tags.ts';
import type { TagsChange } from '../../contract/tags.ts';
import { fieldProblem } from '../problems/problem.ts';

/** Tags are equal regardless of case; those that stay keep their order and their spelling. */
export function changedTags(stored: readonly string[], change: string[] | TagsChange): string[] {
  if (Array.isArray(change)) return change;
  const removed = new Set(change.remove?.map(folded));
  const kept = stored.filter((tag) => !removed.has(folded(tag)));
  const there = new Set(kept.map(folded));
  const tags = [...kept, ...(change.add ?? []).filter((tag) => !there.has(folded(tag)))];
  if (tags.length > maximumTags)
    throw fieldProblem(
      'tags',
      'too_many_items',
      `must have at most ${maximumTags} items, together with the stored ones`,
    );
  return tags;
}

const folded = (tag: string): string => tag.toLowerCase();
