/** The valid name that was probably meant. */

/** The edit distance between two names: insertions, deletions, replacements and swaps of adjacent letters. */
function distance(left: string, right: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1];
      let best = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (swapped) best = Math.min(best, (beforePrevious[column - 2] ?? 0) + 1);
      current.push(best);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[right.length] ?? 0;
}

/** Ignores case, and the separators of snake_case and kebab-case; a `-` in front is the direction of a sort. */
const bare = (name: string) => name.toLowerCase().replaceAll(/(?!^-)[_\s-]/g, '');

/** The nearest of `names`, if it differs only by a typo or a naming convention: by at most `most` edits. */
export function nearest(name: string, names: Iterable<string>, most = Number.POSITIVE_INFINITY): string | undefined {
  const wanted = bare(name.slice(0, 60));
  let found: string | undefined;
  let allowed = Math.min(most, Math.max(1, Math.floor(wanted.length / 3))) + 0.5;
  for (const candidate of names) {
    const known = bare(candidate);
    if (Math.abs(known.length - wanted.length) >= allowed) continue;
    const apart = distance(wanted, known);
    // Names that have no letter in common are not alike, however short they are.
    if (apart < allowed && apart < Math.max(wanted.length, known.length)) {
      found = candidate;
      allowed = apart;
    }
  }
  return found;
}
