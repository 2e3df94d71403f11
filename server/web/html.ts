/** HTML templates: every interpolated value is escaped as text, unless it is already Html. */

export class Html {
  readonly html: string;

  constructor(text: string) {
    this.html = text;
  }
}

/** The name of the service on its pages. */
export const serviceName = 'Proposal API';

type Value = Html | string | number | false | null | undefined | readonly Value[];

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

export const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (letter) => entities[letter] ?? '');

/** Every attribute in a template must be quoted: values are escaped for quoted attributes. */
export function html(words: TemplateStringsArray, ...values: Value[]): Html {
  return new Html(words.map((word, index) => word + print(values[index])).join(''));
}

function print(value: Value): string {
  if (value === undefined || value === null || value === false) return '';
  if (typeof value === 'string') return escapeHtml(value);
  if (typeof value === 'number') return String(value);
  return value instanceof Html ? value.html : value.map(print).join('');
}
