/**
 * How a search finds a word with an @: by what is on either side of it. By an index of every three letters it would take
 * long, because most of those in an email address are in all the others too.
 */

/** How long the parts are that are kept. */
const lengths = [2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];

// A part may begin or end inside a pair of surrogates, which the database would reject.
const beforeAt = (segment: string, length: number) => `${segment.slice(-length)}@`.toWellFormed();
const afterAt = (segment: string, length: number) => `@${segment.slice(0, length)}`.toWellFormed();

/** The parts of a text to be searched: of `ann@mail` they are `nn@`, `ann@`, `@ma`, `@mai` and `@mail`. */
export function atParts(text: string): string[] {
  const parts = new Set<string>();
  for (const word of text.split(/\s+/).filter((one) => one.includes('@'))) {
    // What is between two @ signs comes after the one and before the other.
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
export function partsToFind(typed: string): string[] {
  const word = typed.split(/\s+/).find((one) => one.includes('@'));
  const [before = '', after = ''] = word?.split('@') ?? [];
  const longest = (segment: string) => lengths.findLast((length) => length <= segment.length);
  const [left, right] = [longest(before), longest(after)];
  return [...(left ? [beforeAt(before, left)] : []), ...(right ? [afterAt(after, right)] : [])];
}
