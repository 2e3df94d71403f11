/** Runs all the code on the pages, so none can become outdated. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { useWorld } from '../world.ts';
import { pathsWith, readPages, readPage, snippetsOf } from './reading.ts';
import type { Snippet } from './reading.ts';
import { compile, newReader, pythonHasRequests } from './running.ts';
import type { Reader } from './running.ts';

describe('the snippets', () => {
  const world = useWorld();
  let reader: Reader;
  beforeEach(async () => {
    reader = await newReader(world);
  });
  afterEach(() => reader.leave());

  const onPage = async (path: string) => snippetsOf(await readPage(world, path));
  const labeled = async (path: string, label: string) =>
    (await onPage(path)).filter((snippet) => snippet.label === label);

  test('use only languages that this file executes', async () => {
    const read = (await readPages(world)).map((page) => ({ path: page.path, snippets: snippetsOf(page) }));
    for (const wanted of ['bash', 'ts', 'python'])
      expect(
        read.filter(({ snippets }) => snippets.some(({ language }) => language === wanted)).map(({ path }) => path),
      ).toEqual(pathsWith(wanted));
    const all = read.flatMap(({ snippets }) => snippets);
    const run = ['bash', 'js', 'ts', 'python', 'json', 'http', 'text'];
    // The names in these are checked in operating.test.ts.
    const deployed = ['nginx', 'caddy', 'dockerfile', 'yaml', 'ini'];
    expect(new Set(all.map(({ language }) => language))).toEqual(new Set([...run, ...deployed]));
    expect(all.filter(({ language }) => language === 'bash').length).toBeGreaterThan(15);
    expect(all.filter(({ language }) => language === 'ts').length).toBeGreaterThan(7);
  });

  test('for the shell need no newer curl than 7.81, which Ubuntu 22.04 has', async () => {
    const shell = (await readPages(world)).flatMap(snippetsOf).filter(({ language }) => language === 'bash');
    expect(shell.filter(({ text }) => /%header\{|--json|--variable/.test(text))).toEqual([]);
  });

  test.each(pathsWith('bash'))('for the shell run in order: %s', async (path) => {
    for (const { text, status } of (await onPage(path)).filter(({ language }) => language === 'bash')) {
      const { statuses, output } = await reader.shell(text);
      const told = `${text}\n${output}`;
      expect(statuses.length > 0 || !text.includes('curl'), told).toBe(true);
      if (status !== undefined) expect(statuses.pop(), told).toBe(status);
      expect(
        statuses.filter((one) => one < 200 || one > 299),
        told,
      ).toEqual([]);
    }
  });

  // The webhook receivers, which run until stopped, are tested in webhooks/guide.test.ts.
  const endingPathsWith = (language: string) => pathsWith(language).filter((path) => path !== '/docs/webhooks');

  test.each(endingPathsWith('ts'))('in TypeScript run in order: %s', async (path) => {
    const programs = (await onPage(path)).filter(({ language }) => language === 'ts');
    // As `npm init` creates it.
    await writeFile(join(reader.folder, 'package.json'), '{ "type": "commonjs" }');
    for (const [index, { label, text }] of programs.entries()) {
      const name = /\.m?ts$/.test(label) ? label : `program-${index}.mts`;
      expect(await reader.program(name, text), label).toBeTypeOf('string');
    }
  });

  test('in TypeScript run in a project that npm has just created, under the name that First call says', async () => {
    const page = await readPage(world, '/docs/first-call');
    const [, name = 'example.ts'] = /<code>node ([\w.]+)<\/code>/.exec(page.html) ?? [];
    await reader.shell('npm init --yes');
    const first = snippetsOf(page).find(({ language }) => language === 'ts');
    expect(await reader.program(name, first?.text ?? '')).toMatch(/^Connected to /);
  });

  test.skipIf(!pythonHasRequests).each(endingPathsWith('python'))('in Python run in order: %s', async (path) => {
    for (const { text } of (await onPage(path)).filter(({ language }) => language === 'python'))
      expect(await reader.python(text), text).toBeTypeOf('string');
  });

  test('in TypeScript compile', async () => {
    const onPages = (await readPages(world)).flatMap(snippetsOf).filter(({ language }) => language === 'ts');
    const programs = onPages.map(({ text }) => text);
    expect(await compile(reader.folder, programs.map(reader.own))).toBe('');
    expect(
      await compile(reader.folder, [reader.own(programs[0] ?? '').replace('client.me.', 'client.you.')]),
    ).toContain('TS2339');
  });

  test('in JSON are valid', async () => {
    const all = (await readPages(world)).flatMap(snippetsOf).filter(({ language }) => language === 'json');
    for (const { text } of all) expect(() => JSON.parse(text), text).not.toThrow();
  });

  test('show an error as the server sends it', async () => {
    const [request, answer] = await onPage('/docs/errors');
    const { output } = await reader.shell(request?.text ?? '');
    const { requestId } = JSON.parse(output);
    expect(JSON.parse(output)).toEqual({ ...JSON.parse(answer?.text ?? ''), requestId });
  });

  test('show rate-limit headers as the server sends them to a new key', async () => {
    const [, shown] = await onPage('/docs/rate-limit');
    const fresh = reader.tenant.as(await reader.tenant.anotherKey());
    const { headers } = await fresh.call('GET', '/v1/me');
    for (const line of shown?.text.split('\n') ?? []) {
      const [name = '', value] = line.split(': ');
      expect(headers.get(name), name).toBe(value);
    }
  });

  test.each(['sync.mjs', ...(pythonHasRequests ? ['sync.py'] : [])])(
    '%s copies everything, then only what changed',
    async (name) => {
      const [{ text } = missing] = await labeled('/docs/pagination-and-sync', name);
      const change = (customer: string) => reader.tenant.call('POST', '/v1/customers', { name: customer });
      for (let count = 0; count < 3; count += 1) await change(`Customer ${count}`);
      const small = text.replace('limit=100', 'limit=2');
      const sync = () => (name.endsWith('.py') ? reader.python(small) : reader.program(name, small));
      expect(await sync()).toMatch(/^4 changes, 4 records, through \d{4}-/);
      await change('Hungry Coyote');
      // Records written in the last few milliseconds may be returned again.
      expect(await sync()).toMatch(/^[1-5] changes, 5 records, through \d{4}-/);
    },
  );

  test('the shell loop over all pages ends, and sends the key nowhere else, whatever the metadata of a record contains', async () => {
    const metadata = { nextUrl: 'https://attacker.invalid/', pagination: '{' };
    await reader.tenant.call('POST', '/v1/customers', { name: 'Island Trading', metadata, notes: '"nextUrl":"x"' });
    const [loop] = await labeled('/docs/pagination-and-sync', 'curl');
    const { statuses, output } = await reader.shell(loop?.text ?? '');
    expect([statuses, output]).toEqual([[200], expect.stringContaining('Island Trading')]);
  });

  test('the import creates and reports what its guide says', async () => {
    const customers = (await onPage('/docs/import')).find(({ text }) => text.includes('import customers'));
    const said = async () => (await reader.shell(customers?.text ?? '')).output;
    expect(await said()).toBe('2 read: 2 created, 0 updated, 0 unchanged, 0 rejected\n');
    expect(await said()).toBe('2 read: 0 created, 0 updated, 2 unchanged, 0 rejected\n');
  });

  describe('for no-code tools', () => {
    const automation = (label: string) => labeled('/docs/automation', label);

    test('work without a loop, as in Make: only the URL of the next request is stored', async () => {
      const [start] = await automation('Text');
      const seen: string[] = [];
      let stored = (start?.text ?? '').replace('limit=100', 'limit=2');
      const first = stored;
      const runScenario = async () => {
        const { status, body } = await reader.tenant.call('GET', stored.replace(world.url, ''));
        expect(status).toBe(200);
        for (const { name } of body.data) seen.push(name);
        stored = body.pagination.hasMore ? body.pagination.nextUrl : `${first}&updatedSince=${body.syncedThrough}`;
      };
      for (const name of ['Ann', 'Bob', 'Cid']) await reader.tenant.call('POST', '/v1/customers', { name });
      for (let runs = 0; runs < 4; runs += 1) await runScenario();
      expect([...new Set(seen)]).toEqual(['Vins et alcools Chevalier', 'Ann', 'Bob', 'Cid']);
      await reader.tenant.call('POST', '/v1/customers', { name: 'Dan' });
      for (let runs = 0; runs < 4; runs += 1) await runScenario();
      expect(seen).toContain('Dan');
    });
  });
});

const missing: Snippet = { language: '', label: '', status: undefined, text: '' };
