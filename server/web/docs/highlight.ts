/** Highlights code on the server, so that the pages need no script for it. */
import { createRequire } from 'node:module';
import { escapeHtml, Html } from '../html.ts';

type Highlighter = {
  registerLanguage(name: string, language: unknown): void;
  getLanguage(name: string): unknown;
  highlight(text: string, options: { language: string }): { value: string };
};

// Not imported: its types include those of a browser, which conflict with Node's.
const require = createRequire(import.meta.url);
const highlighter: Highlighter = require('highlight.js/lib/core');
/** Info string of a code block → the module of highlight.js. */
export const languages = {
  bash: 'bash',
  dockerfile: 'dockerfile',
  http: 'http',
  ini: 'ini',
  js: 'javascript',
  json: 'json',
  nginx: 'nginx',
  python: 'python',
  ts: 'typescript',
  yaml: 'yaml',
};
for (const [name, file] of Object.entries(languages)) {
  highlighter.registerLanguage(name, require(`highlight.js/lib/languages/${file}`));
}

/** The code with its parts marked; a language without colors is only escaped. */
export function highlight(text: string, language: string): Html {
  if (!highlighter.getLanguage(language)) return new Html(escapeHtml(text));
  return new Html(highlighter.highlight(text, { language }).value);
}
