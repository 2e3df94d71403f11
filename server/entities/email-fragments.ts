/**
 * How a search finds a word with an @: by the text on either side of it. A trigram index would be slow, because email
 * addresses share most of their trigrams.
 */

/** The lengths of the parts that are stored. */
const lengths = [2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];

// A part may begin or end inside a surrogate pair, which the database would reject.
const beforeAt = (segment: string, length: number) => `${segment.slice(-length)}@`.toWellFormed();
const afterAt = (segment: string, length: number) => `@${segment.slice(0, length)}`.toWellFormed();

/** The parts of a text to be searched: of `ann@mail` they are `nn@`, `ann@`, `@ma`, `@mai` and `@mail`. */
export function emailFragments(text: string): string[] {
  const parts = new Set<string>();
  for (const word of text.split(/\s+/).filter((one) => one.includes('@'))) {
    // A segment between two @ signs comes after one and before the other.
    word.split('@').forEach((segment, index, { length: count }) => {
      for (const length of lengths.filter((each) => each <= segment.length)) {
        if (index > 0) parts.add(afterAt(segment, length));
        if (index < count - 1) parts.add(beforeAt(segment, length));
      }
    });
  }
  return [...parts];
}

/** The parts that every text with this word in it has: the longest on either side of the first @, if there are any. */
export function emailFragmentsToFind(typed: string): string[] {
  const word = typed.split(/\s+/).find((one) => one.includes('@'));
  const [before = '', after = ''] = word?.split('@') ?? [];
  const longest = (segment: string) => lengths.findLast((length) => length <= segment.length);
  const [left, right] = [longest(before), longest(after)];
  return [...(left ? [beforeAt(before, left)] : []), ...(right ? [afterAt(after, right)] : [])];
}
