/** Tags: replaced as a whole, or changed one by one. */
import { maximumTags } from '../../contract/tags.ts';
import type { TagsChange } from '../../contract/tags.ts';
import type { ProblemError } from '../../contract/problem.ts';
import { fieldError } from '../problems/problem.ts';

/**
 * Tags are equal regardless of case; those that stay keep their order and their spelling. The result can have too many:
 * see `excessTags`.
 */
export function changedTags(stored: readonly string[], change: string[] | TagsChange): string[] {
  if (Array.isArray(change)) return change;
  const removed = new Set(change.remove?.map(folded));
  const kept = stored.filter((tag) => !removed.has(folded(tag)));
  const there = new Set(kept.map(folded));
  return [...kept, ...(change.add ?? []).filter((tag) => !there.has(folded(tag)))];
}

export function excessTags(tags: readonly string[] = []): ProblemError[] {
  const message = `must have at most ${maximumTags} items, together with the stored ones`;
  return tags.length > maximumTags ? [fieldError('tags', 'too_many_items', message)] : [];
}

const folded = (tag: string): string => tag.toLowerCase();
