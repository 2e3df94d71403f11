/**
 * Every regular expression of the contract and the server takes time in proportion to the text: four times the text costs
 * about four times as much, whatever the text. Measured on texts built from the parts of each expression itself.
 */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'rolldown/parseAst';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { operationsOf } from '../../contract/operations.ts';
import { v1 } from '../../contract/v1.ts';
import { pathPattern } from '../../server/http/routes.ts';
import { idPattern } from '../../contract/fields.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** These read only the project's own documents. */
const ownText = /^server\/(?:build\/|web\/docs\/(?:markdown|blocks)\.ts|mcp\/schema\.ts)/;

/** Every regular expression literal, with its file. */
function writtenPatterns(): Map<string, RegExp> {
  const found = new Map<string, RegExp>();
  for (const file of globSync('{contract,server}/**/*.ts', { cwd: root }).filter((name) => !ownText.test(name))) {
    JSON.stringify(parseAst(readFileSync(root + file, 'utf8'), { lang: 'ts' }), (_, node) => {
      const { pattern, flags } = node?.regex ?? {};
      if (pattern !== undefined) found.set(`/${pattern}/${flags} in ${file}`, new RegExp(pattern, flags));
      return typeof node === 'bigint' ? undefined : node;
    });
  }
  return found;
}

/** The regular expressions of the contract's schemas, including the library's own. */
function patternsOf(value: unknown, seen: Set<unknown> = new Set(), found: Set<RegExp> = new Set()): Set<RegExp> {
  if (typeof value !== 'object' || value === null || seen.has(value)) return found;
  seen.add(value);
  if (value instanceof RegExp) return found.add(value);
  // A schema and a check have their definition in a non-enumerable property.
  const definition: unknown = Reflect.get(Object(Reflect.get(value, '_zod')), 'def');
  for (const part of [definition, ...Object.values(value instanceof z.ZodType ? {} : value)])
    patternsOf(part, seen, found);
  return found;
}

/** The parts from which texts for this expression are built, and characters that it may not expect. */
function partsOf({ source }: RegExp): string[] {
  const escapes: Record<string, string> = {
    s: ' ',
    S: 'a',
    d: '0',
    D: 'a',
    w: 'a',
    W: '-',
    n: '\n',
    r: '\r',
    t: '\t',
    b: ' ',
  };
  const plain = source
    .replaceAll(/\\p\{\w+\}|\\P\{\w+\}/g, '\u0301')
    .replaceAll(/\\([a-zA-Z])/g, (_, letter) => escapes[letter] ?? '');
  const words = plain.match(/[A-Za-z]+|[^\sA-Za-z]|\s/g) ?? [];
  return [...new Set([...words, ...plain.slice(0, 40), 'a', 'A', '0', ' ', '\n', '.'])];
}

function* hostileTexts(pattern: RegExp): Generator<(length: number) => string> {
  const parts = partsOf(pattern);
  // A dot matches all but line breaks.
  const unexpected = ['\u0001', '\n\u0001'];
  for (const first of parts) {
    for (const second of ['', ...parts]) {
      const repeated = first + second;
      for (const end of unexpected) yield (length) => repeated.repeat(Math.ceil(length / repeated.length)) + end;
    }
  }
}

/** Milliseconds, the minimum of several runs: not every run is interrupted. CPU time is too coarse for this. */
function cost(work: () => void, runs: number): number {
  let least = Infinity;
  for (let run = 0; run < runs; run += 1) {
    const startedAt = performance.now();
    work();
    least = Math.min(least, performance.now() - startedAt);
  }
  return least;
}

const use = (pattern: RegExp, text: string) => void (pattern.global ? text.replace(pattern, '') : text.search(pattern));
const short = 1_000;
const long = 4 * short;

/** Without unbounded repetition, each start of a match costs a bounded number of steps. */
const repeats = ({ source }: RegExp) => /[*+]|\{\d+,\}/.test(source);

/** How much more a character costs in a text that is four times as long: about 1 if linear, 4 or more if not. */
function growth(pattern: RegExp): { growth: number; text: string } {
  const linear = { growth: 1, text: '' };
  if (!repeats(pattern)) return linear;
  for (const make of hostileTexts(pattern)) {
    const [text, longer] = [make(short), make(long)];
    // Too close to a single pass to be measured, and so considered linear.
    const pass = cost(() => use(/[^\s\S]/g, longer), 5);
    if (cost(() => use(pattern, longer), 1) < 100 * (pass + 0.01)) continue;
    const four = () => [1, 2, 3, 4].forEach(() => use(pattern, text));
    const ratio = () => cost(() => use(pattern, longer), 5) / cost(four, 5);
    let least = ratio();
    // On a busy machine, one measurement may be wrong.
    for (let again = 0; again < 4 && least > most; again += 1) least = Math.min(least, ratio());
    if (least > most) return { growth: least, text: text.slice(0, 20) };
  }
  return linear;
}

const most = 2.5;
const contracted = [...patternsOf(operationsOf(v1))].map((pattern): [string, RegExp] => [
  `${pattern} in the contract`,
  pattern,
]);
const composed: [string, RegExp][] = [
  ['an id', idPattern('customer')],
  ['a path', pathPattern('/v1/customers/:customerId')],
];
const all = new Map([...writtenPatterns(), ...contracted, ...composed]);

describe('a regular expression', () => {
  test('is always linear', () => {
    expect(all.size).toBeGreaterThan(100);
    const slow = [...all].flatMap(([name, pattern]) => {
      const worst = growth(pattern);
      return worst.growth > most ? [{ name, ...worst }] : [];
    });
    expect(slow).toEqual([]);
  });

  test('is detected if it is not linear', () => {
    for (const pattern of [/\s+$/, /^0*(\d+)$/, /<[^>]*>/g, /[^/]*%[^/]*/g]) {
      // An interruption may hide growth, but never causes it.
      const isNoticed = Array.from({ length: 30 }).some(() => growth(pattern).growth > most);
      expect(isNoticed, String(pattern)).toBe(true);
    }
  });
});
