/** One spelling and one word for one thing, in everything that people read: pages, messages, comments and test titles. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/** Word → what to write instead. */
const words: readonly [RegExp, string][] = [
  [/\be-mails?\b/i, 'email'],
  [/\bcatalogues?\b/i, 'catalog'],
  [/\bbehaviou?r(?<!behavior)s?\b/i, 'behavior'],
  [/\bcolou?r(?<!color)(?:s|ed)?\b/i, 'color'],
  [/\b(?:fav|hon)our(?:s|ed|ite)?\b/i, 'favor, honor'],
  [/\bgrey\b/i, 'gray'],
  [/\bneighbours?\b/i, 'neighbor'],
  [/\blicences?\b/i, 'license'],
  [/\b(?:cancel|label|model|signal)l(?:ed|ing)\b/i, 'canceled, labeled: one l'],
  [/\b(?:organ|normal|serial|recogn|capital|initial|local)is(?:e[ds]?|ing|ation)\b/i, '-ize'],
  [/\b(?:afterwards|towards)\b/i, 'afterward, toward'],
  [/\b(?:whilst|amongst)\b/i, 'while, among'],
  [/\bwhoever\b/i, 'if you; no matter who'],
  [/\bby (?:itself|themselves)\b/i, 'alone, automatically, on its own'],
  [/\bcome along\b/i, 'are included'],
  [/\bstands? (?:there|in)\b/i, 'is there, is in'],
  [/\bturns the pages\b/i, 'reads page by page'],
  [/\bis no valid\b/i, 'is not a valid'],
  [/\bas it stands\b/i, 'unchanged'],
  [/\bgone wrong meanwhile\b/i, 'failed in the meantime'],
  [/\b(?:some|any|every)body\b/i, 'someone, anyone, everyone'],
  [/\bany more\b/i, 'no longer; anymore'],
  [/\banew\b/i, 'again; re-'],
  [/\bon the trail\b/i, 'in the audit log'],
  [/\bbrought back\b/i, 'restored, undone'],
];

const root = fileURLToPath(new URL('../..', import.meta.url));

/** These have the words on purpose: this list, published migrations, and names that other tools give their columns. */
const exceptions =
  /docs\/words\.test\.ts$|database\/migrations\/|import\/field-aliases\.ts$|compiler\/mutations\.ts$|node_modules|\/dist\//;

const files = ['contract', 'server', 'client', 'test', '.github']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  )
  .concat('README.md', 'SECURITY.md', 'CHANGELOG.md')
  .filter((file) => /\.(?:ts|md|css|js)$/.test(file) && !exceptions.test(file));

/** What people read of a file: of a program its comments and texts, of a test its comments and titles. */
function proseOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  if (!/\.[jt]s$/.test(file)) return [text];
  const strings = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;
  const comments = [...text.replaceAll(strings, "''").matchAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g)].map(([all]) => all);
  const isTest = file.startsWith('test/');
  const titles = /\b(?:test|describe)(?:\.\w+)*\(\s*(?:\[[^\]]*\]\)\(\s*)?('(?:\\.|[^'\\\n])*'|"[^"\n]*"|`[^`]*`)/g;
  const texts = isTest ? [...text.matchAll(titles)].map(([, title = '']) => title) : text.match(strings);
  return [...comments, ...(texts ?? [])];
}

function found(prose: readonly string[]): string[] {
  return words.flatMap(([word, instead]) =>
    prose.flatMap((text) => {
      const [written] = word.exec(text) ?? [];
      return written === undefined ? [] : [`“${written}”: write ${instead}`];
    }),
  );
}

test('everything that people read uses the words of the list', () => {
  expect(files.length).toBeGreaterThan(300);
  expect(files.flatMap((file) => found(proseOf(file)).map((sentence) => `${file} has ${sentence}`))).toEqual([]);
});

test.each([
  ['Your e-mail address', 'e-mail'],
  ['The catalogue of failures', 'catalogue'],
  ['its behaviour and colour', 'behaviour'],
  ['cancelled by the customer', 'cancelled'],
  ['each organisation', 'organisation'],
  ['Whoever keeps a copy', 'Whoever'],
  ['restarts by itself', 'by itself'],
  ['if somebody changed it', 'somebody'],
  ['it is not valid any more', 'any more'],
])('“%s” is found', (text, word) => expect(found([text])[0]).toContain(`“${word}”`));

test('American spellings are left alone', () => {
  expect(found(['email, catalog, behavior, color, canceled, organization'])).toEqual([]);
});
