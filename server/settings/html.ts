/** HTML by hand: what stands between the words of a template is text, whoever wrote it, unless it is Html already. */

export type Html = { readonly html: string };
type Value = Html | string | number | false | null | undefined | readonly Value[];

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

export const escapeText = (text: string): string => text.replaceAll(/[&<>"']/g, (letter) => entities[letter] ?? '');

/** Every attribute in a template is quoted: that is what its values are escaped for. */
export function html(words: TemplateStringsArray, ...values: Value[]): Html {
  return { html: words.map((word, index) => word + print(values[index])).join('') };
}

function print(value: Value): string {
  if (value === undefined || value === null || value === false) return '';
  if (typeof value === 'string') return escapeText(value);
  if (typeof value === 'number') return String(value);
  if ('html' in value) return value.html;
  return value.map(print).join('');
}
