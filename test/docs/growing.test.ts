/** The growing guide: its variables and commands exist, and its PgBouncer settings are those that the tests run with. */
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

test('every command has the options that it is used with', async () => {
  const uses = all(guide, /npx proposal-api ((?:serve|distribute)[^`\n]*)/g);
  expect(uses.toSorted()).toEqual(['distribute --shards 64', 'serve', 'serve --workers 4']);
  expect(await helpOf('distribute')).toContain('--shards <N>');
  expect(await helpOf('serve')).toContain('--workers <N>');
});

test('the connections are those of the operating guide', () => {
  const [, total] = /up to (\d+) connections to PostgreSQL/.exec(guide) ?? [];
  expect(read('server/web/docs/guides/operating.md')).toContain(`up to ${total}:`);
  expect(guide).toContain(`processes × ${total}`);
});
