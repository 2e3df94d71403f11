/** What a release writes, and that every version in the checkout matches package.json. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { licensesOf } from '../../server/build/licenses.ts';
import {
  filesWithVersion,
  datedChangelog,
  isHigher,
  pendingVersion,
  preparedChangelog,
  withVersion,
} from '../../server/build/release-plan.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string) => ({ file, text: readFileSync(join(root, file), 'utf8') });

describe('the version', () => {
  const { version } = JSON.parse(read('package.json').text);

  test('is the same everywhere, and a release changes every copy', async () => {
    const repeating = (await filesWithVersion(root)).map(read);
    const changed = repeating.map((edit) => withVersion(edit, '9.8.7'));
    expect(changed.flatMap(({ text }) => text.match(/9\.8\.7/g) ?? []).length).toBeGreaterThan(8);
    expect(changed.map((edit) => withVersion(edit, version))).toEqual(repeating);
  });

  test('is in every URL of the client', () => {
    const files = ['client', 'contract', 'server'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
    );
    const texts = files.filter((file) => /\.(md|ts)$/.test(file) && !file.includes('node_modules')).map(read);
    const addresses = texts.flatMap(({ text }) => [...text.matchAll(/client-(\d+\.\d+\.\d+)(?=\.tgz|\/)/g)]);
    expect(new Set(addresses.map(([, named]) => named))).toEqual(new Set([version]));
  });

  test.each([
    ['1.0.1', '1.0.0', true],
    ['1.10.0', '1.9.9', true],
    ['2.0.0', '1.9.9', true],
    ['1.0.0', '1.0.0', false],
    ['1.2.3', '1.3.0', false],
  ])('%s after %s: %s', (next, previous, higher) => expect(isHigher(next, previous)).toBe(higher));
});

describe('the changelog of a release', () => {
  const first = '# Changelog\n\n## [Unreleased]\n\n## [1.0.0]\n\nThe first version; not yet released.\n\n- A.\n';

  test('dates the prepared version', () => {
    expect(pendingVersion(first)).toBe('1.0.0');
    const dated = datedChangelog(first, '1.0.0', '2026-12-01');
    expect(dated).toBe('# Changelog\n\n## [Unreleased]\n\n## [1.0.0] - 2026-12-01\n\nThe first version.\n\n- A.\n');
    expect(pendingVersion(dated)).toBeUndefined();
  });

  test('moves unreleased entries under the new version', () => {
    const dated = datedChangelog(first, '1.0.0', '2026-12-01').replace('[Unreleased]\n', '[Unreleased]\n\n- B.\n');
    expect(datedChangelog(dated, '1.1.0', '2026-12-24')).toContain(
      '## [Unreleased]\n\n## [1.1.0] - 2026-12-24\n\n- B.\n\n## [1.0.0] - 2026-12-01\n',
    );
  });

  test('has at most one version in preparation, without a date', () => {
    const dated = datedChangelog(first, '1.0.0', '2026-12-01').replace('[Unreleased]\n', '[Unreleased]\n\n- B.\n');
    const prepared = preparedChangelog(dated, '1.1.0');
    expect(prepared).toContain('## [Unreleased]\n\n## [1.1.0]\n\n- B.\n\n## [1.0.0] - 2026-12-01\n');
    expect(datedChangelog(prepared, '1.1.0', '2026-12-24')).toBe(datedChangelog(dated, '1.1.0', '2026-12-24'));
    expect(() => preparedChangelog(prepared, '1.2.0')).toThrow('Version 1.1.0 is in preparation');
  });

  test('is rejected without an entry, for a published version, or with entries in two places', () => {
    const dated = datedChangelog(first, '1.0.0', '2026-12-01');
    expect(() => datedChangelog(dated, '1.1.0', '2026-12-24')).toThrow('CHANGELOG.md says nothing about 1.1.0.');
    expect(() => datedChangelog(dated, '1.0.0', '2026-12-24')).toThrow('Version 1.0.0 is published');
    const both = first.replace('[Unreleased]\n', '[Unreleased]\n\n- B.\n');
    expect(() => datedChangelog(both, '1.0.0', '2026-12-01')).toThrow('has entries under Unreleased');
  });
});

test('names the license of each library once, with its text', async () => {
  const file = (name: string) => join(root, 'node_modules', name);
  const text = await licensesOf([
    file('zod/index.js'),
    file('zod/v4/index.js'),
    file('@redis/client/dist/index.js'),
    '/x.ts',
  ]);
  expect(text.match(/^\S+ \d+\.\d+\.\d+, MIT$/gm)?.map((line) => line.split(' ')[0])).toEqual(['@redis/client', 'zod']);
  expect(text).toContain('Permission is hereby granted');
});

test('accepts a license named COPYING, and rejects a library without a license', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'proposal-api-licenses-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const library = join(folder, 'node_modules/free');
  await mkdir(library, { recursive: true });
  await writeFile(join(library, 'package.json'), '{"name":"free","version":"1.2.3"}');
  const licenses = () => licensesOf([`\0${library}/index.js`]);
  await expect(licenses()).rejects.toThrow('free 1.2.3 says nothing about its license.');
  await writeFile(join(library, 'COPYING'), 'Do what you like.\n');
  expect(await licenses()).toBe('free 1.2.3, see below\n\nDo what you like.\n');
});

test('a dry run says what a release would write, and writes nothing', () => {
  const texts = () => ['CHANGELOG.md', 'package.json', 'README.md'].map((file) => read(file).text);
  const before = texts();
  const output = execFileSync(process.execPath, [join(root, 'server/build/release.ts'), '--dry-run'], {
    encoding: 'utf8',
  });
  expect(output).toMatch(/would write CHANGELOG\.md\n|There is nothing to release\./);
  expect(texts()).toEqual(before);
});
