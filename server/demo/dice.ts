/** The demo's dice fall the same on every machine: two demos have the same names and the same amounts. */

export type Dice = ReturnType<typeof diceOf>;

export function diceOf(seed: number) {
  const roll = mulberry32(seed);
  /** A whole number from `least` to `most`, both included. */
  const between = (least: number, most: number): number => least + Math.floor(roll() * (most - least + 1));
  const pick = <T>(values: readonly T[]): T => {
    const chosen = values[between(0, values.length - 1)];
    if (chosen === undefined) throw new Error('There is nothing to pick from.');
    return chosen;
  };
  return {
    between,
    pick,
    chance: (percent: number): boolean => between(1, 100) <= percent,
    /** So many different ones of `values`, or all of them, in the order in which they stand there. */
    some<T>(values: readonly T[], count: number): T[] {
      const left = values.map((_, index) => index);
      while (left.length > count) left.splice(between(0, left.length - 1), 1);
      return left.flatMap((index) => values.slice(index, index + 1));
    },
    /** `form` with a digit for each `#`. */
    digits: (form: string): string => form.replaceAll('#', () => String(between(0, 9))),
    /** An address's unguessable part, were it a real one. */
    token: (length: number): string =>
      Array.from({ length }, () => pick([...'abcdefghjkmnpqrstvwxyz23456789'])).join(''),
  };
}

/** Numbers from 0 to 1, by Tommy Ettinger's public-domain generator. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
