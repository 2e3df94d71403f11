/**
 * An upgrade while the service is in use: from each release (from this checkout, before the first one) to a release after
 * this checkout, with one more migration. The newest release runs alongside it, and takes over again after a rollback.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { start, startServing } from '../faults/processes.ts';
import type { Running } from '../faults/processes.ts';
import { ownDatabase } from '../database.ts';
import { Load } from './load.ts';
import { buildNext, buildRelease, nextMigration, releaseTags } from './releases.ts';

const tags = await releaseTags();
let folder: string;
let next: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proposal-api-upgrade-'));
  next = await buildNext(join(folder, 'next'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

/** A new database, the programs to run on it, and keys of an organization that the release created. */
async function install(program: string) {
  const { url: databaseUrl, drop } = await ownDatabase();
  cleanups.push(drop);
  const environment = { DATABASE_URL: databaseUrl, AUTH_SECRET: 'a secret for all processes of this test' };
  const run = async (file: string, ...words: string[]) => {
    const { child, output, exited } = start(words, environment, file);
    await exited;
    if (child.exitCode !== 0) throw new Error(`${words.join(' ')}: ${output.text}`);
    return output.text.trim();
  };
  const serve = async (file: string): Promise<Running> => {
    const running = await startServing([], environment, file);
    cleanups.push(() => running.end('SIGKILL'));
    return running;
  };
  await run(program, 'organizations', 'create', '--name', 'Acme', '--slug', 'acme', '--plan', 'team');
  const admin = ['--email', 'ann@acme.example', '--name', 'Ann', '--role', 'admin'];
  await run(program, 'members', 'add', '--organization', 'acme', ...admin);
  const keys: string[] = [];
  for (let index = 0; index < 12; index += 1) {
    const of = ['--organization', 'acme', '--by', 'ann@acme.example', '--name', `Load ${index}`];
    keys.push((await run(program, 'keys', 'create', ...of)).split('\n').at(-1) ?? '');
  }
  const load = (urls: string[]) => {
    const started = new Load(urls, keys);
    cleanups.push(() => started.stop());
    return started;
  };
  return { run, serve, load };
}

const errorsOf = ({ output }: Running) => output.text.split('\n').filter((line) => line.includes('"level":"error"'));

describe(`from ${tags[0] ?? 'this checkout'} to the release after it`, () => {
  test('no call fails while new processes replace the old ones, or after a rollback', async () => {
    const program = await buildRelease(join(folder, 'previous'), tags[0]);
    const { run, serve, load: startLoad } = await install(program);
    const old = await serve(program);
    const load = startLoad([old.url]);
    await load.more(5);
    expect(await run(next, 'migrate')).toContain(nextMigration);
    await load.more(5);

    const replacement = await serve(next);
    load.urls = [old.url, replacement.url];
    await load.more(8);
    load.urls = [replacement.url];
    await load.more(1);
    expect(await old.end('SIGTERM')).toBe(0);
    await load.more(5);

    const returned = await serve(program);
    load.urls = [replacement.url, returned.url];
    await load.more(8);
    load.urls = [returned.url];
    await load.more(1);
    expect(await replacement.end('SIGTERM')).toBe(0);
    await load.more(5);

    await load.stop();
    expect(load.failures).toEqual([]);
    expect([old, replacement, returned].flatMap(errorsOf)).toEqual([]);
    expect(await returned.end('SIGTERM')).toBe(0);
    const exported = await run(next, 'export', 'customers', '--organization', 'acme', '--format', 'jsonl');
    expect(exported.split('\n').filter((line) => line.startsWith('{'))).toHaveLength(load.rounds);
  });
});

// A rolling upgrade must not skip a release; an upgrade of a stopped service may.
describe.each(tags.slice(1))('from %s to a later release', (tag) => {
  test('serves the stored records after the upgrade', async () => {
    const program = await buildRelease(join(folder, tag), tag);
    const { serve, load: startLoad } = await install(program);
    const old = await serve(program);
    const before = startLoad([old.url]);
    await before.more(3);
    await before.stop();
    expect(await old.end('SIGTERM')).toBe(0);
    const replacement = await serve(next);
    const after = startLoad([replacement.url]);
    await after.more(3);
    await after.stop();
    expect([...before.failures, ...after.failures, ...errorsOf(replacement)]).toEqual([]);
    expect(await replacement.end('SIGTERM')).toBe(0);
  });
});
