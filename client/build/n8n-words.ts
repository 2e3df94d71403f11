/** Texts in n8n's style, which its linter checks. */

export type Json = Record<string, unknown>;

const small = new Set(['a', 'and', 'at', 'by', 'for', 'in', 'of', 'or', 'the', 'to']);
/** `External ID`; `Create or Update`: labels as n8n writes them. */
export const titled = (text: string) =>
  text
    .split(' ')
    .map((word, index) => (index > 0 && small.has(word) ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join(' ');

/** In n8n's style, a single sentence has no period, several sentences do, and an id is an `ID`. */
export function clean(text: string): string {
  const plain = text
    .replaceAll('`', '')
    .replaceAll(/\bids?\b/g, (id) => id.replace('id', 'ID'))
    .replace(/^[a-z]/, (letter) => letter.toUpperCase());
  return plain.replaceAll('e.g.', '').includes('. ') ? plain : plain.replace(/\.$/, '');
}

export const option = (name: string, value: string, more: Json = {}): Json => ({ name, value, ...more });
const nameOf = (one: Json) => String(one.displayName ?? one.name);
export const sorted = (all: Json[]) => all.toSorted((one, other) => nameOf(one).localeCompare(nameOf(other), 'en'));
export const values = (choices: readonly string[]) => sorted(choices.map((one) => option(titled(one), one)));
