/** Highlights code on the server, so the pages need no script for it. */
import { createRequire } from 'node:module';
import { escapeHtml, Html } from '../html.ts';

type Highlighter = {
  registerLanguage(name: string, language: unknown): void;
  getLanguage(name: string): unknown;
  highlight(text: string, options: { language: string }): { value: string };
};

// Required, not imported: its types include the browser's, which conflict with Node's.
const require = createRequire(import.meta.url);
const highlighter = require('highlight.js/lib/core') as Highlighter;
/** Those of the guides; highlight.js also knows them by shorter names, such as `ts`. */
export const languages = 'bash dockerfile http ini javascript json nginx python typescript yaml'.split(' ');
for (const name of languages) highlighter.registerLanguage(name, require(`highlight.js/lib/languages/${name}`));

/** The code as highlighted HTML; an unknown language is only escaped. */
export function highlight(text: string, language: string): Html {
  if (!highlighter.getLanguage(language)) return new Html(escapeHtml(text));
  return new Html(highlighter.highlight(text, { language }).value);
}
