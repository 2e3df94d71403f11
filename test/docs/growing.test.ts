/** The growing guide: its variables and commands exist, and its number of connections matches the operating guide. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { helpOf } from '../command.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const guide = read('server/web/docs/guides/growing.md');
const all = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, found = '']) => found);

test('every environment variable is one that serve knows', async () => {
  const help = await helpOf('serve');
  const names = all(guide, /\b([A-Z]+(?:_[A-Z]+)+)\b/g);
  expect(names.length).toBeGreaterThan(5);
  expect(names.filter((name) => !help.includes(name))).toEqual([]);
});

test('every command has the options used with it', async () => {
  const uses = all(guide, /npx proposal-api ((?:serve|distribute)[^`\n]*)/g);
  expect(uses.toSorted()).toEqual(['distribute --shards 64', 'serve', 'serve --workers 4']);
  expect(await helpOf('distribute')).toContain('--shards <N>');
  expect(await helpOf('serve')).toContain('--workers <N>');
});

test('the number of connections matches the operating guide', () => {
  const [, total] = /up to (\d+) connections to PostgreSQL/.exec(guide) ?? [];
  expect(read('server/web/docs/guides/operating.md')).toContain(`up to ${total}:`);
  expect(guide).toContain(`processes × ${total}`);
});
