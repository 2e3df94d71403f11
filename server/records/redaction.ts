/** Finds and replaces the names of one person in texts that other people wrote. */

/** Shorter names occur in too many words. */
const shortest = 3;
/** No longer than what it replaces, so that no text outgrows its limit. */
const replacement = '***';

type Text = string | null;

export class Redaction {
  readonly #expressions: readonly RegExp[];
  /** For PostgreSQL's `~`: they match at least every text that contains a name. */
  readonly patterns: readonly string[];

  /** `names` match in any case; `words`, which may also be ordinary words, only as written. */
  constructor(names: readonly (Text | undefined)[], words: readonly (Text | undefined)[] = []) {
    const [whole, single] = [names.filter(isUsable), words.filter(isUsable)];
    this.#expressions = [...expressionOf(whole, 'giu'), ...expressionOf(single, 'gu')];
    this.patterns = whole.map(inAnyCase);
  }

  finds(text: Text): boolean {
    return this.redact(text) !== text;
  }

  redact<T extends Text>(text: T): T | string {
    if (text === null) return text;
    return this.#expressions.reduce<string>((left, expression) => left.replaceAll(expression, replacement), text);
  }

  redactMembers(texts: Readonly<Record<string, string>>): Record<string, string> {
    return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, this.redact(text)]));
  }
}

const isUsable = (text: Text | undefined): text is string => typeof text === 'string' && [...text].length >= shortest;

/** Matches whole words only; the longest comes first, so that a name is replaced before a part of it. */
function expressionOf(texts: readonly string[], flags: string): RegExp[] {
  if (texts.length === 0) return [];
  const parts = texts.toSorted((left, right) => right.length - left.length).map(literally);
  return [new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${parts.join('|')})(?![\p{L}\p{N}])`, flags)];
}

const literally = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);

/** Forms of a letter that no change of case produces. */
const rareForms = [...'ſςẞµ'];

/** Lists the forms of each letter, because in many databases, `ilike` knows only those of ASCII. */
const inAnyCase = (text: string): string =>
  [...text]
    .map((letter) => {
      const [upper, lower] = [letter.toUpperCase(), letter.toLowerCase()];
      const rare = rareForms.filter((one) => one.toUpperCase() === upper || one.toLowerCase() === lower);
      const forms = [letter, upper, lower, upper.toLowerCase(), ...rare].filter((form) => [...form].length === 1);
      const known = [...new Set(forms)];
      return known.length === 1 ? literally(letter) : `[${known.join('')}]`;
    })
    .join('');
