/** The commands as a person runs them: separate processes, on their own embedded database. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { printTable } from '../server/commands/command.ts';
import { openEmbeddedPostgres } from '../server/embedded/postgres.ts';
import { listen } from './ports.ts';
import { helpOf, runCommand } from './command.ts';
import { program } from './program.ts';

let folder: string;
let environment: NodeJS.ProcessEnv;
const running = new Set<ChildProcess>();
let database: Awaited<ReturnType<typeof openEmbeddedPostgres>> | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proposal-api-commands-'));
  await chmod(folder, 0o755);
  environment = { ...process.env, DATA_DIR: join(folder, 'data'), PORT: '0' };
  delete environment.DATABASE_URL;
});
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL');
  await database?.close();
  // The last process to exit stops the database; after a kill, that is this one.
  await run('migrate');
  await rm(folder, { recursive: true, force: true });
});

type Result = { status: number | null; out: string; err: string };

async function run(...words: string[]): Promise<Result> {
  const child = spawn(process.execPath, [program, ...words], { env: environment, cwd: tmpdir() });
  const [out, err] = [collect(child.stdout), collect(child.stderr)];
  const [status] = await once(child, 'close');
  return { status, out: out.text, err: err.text };
}

/** In this process, on the same database, which runs already. */
const runHere = (...words: string[]) => runCommand(words, { ...environment, DATABASE_URL: database?.url });

function collect(stream: NodeJS.ReadableStream): { text: string } {
  const collected = { text: '' };
  stream.on('data', (chunk) => (collected.text += String(chunk)));
  return collected;
}

async function serve(
  more: NodeJS.ProcessEnv = {},
  ...words: string[]
): Promise<{ child: ChildProcess; url: string; out: { text: string }; err: { text: string } }> {
  const child = spawn(process.execPath, [program, 'serve', ...words], {
    env: { ...environment, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  const [out, err] = [collect(child.stdout), collect(child.stderr)];
  while (!/Serving (http\S+)\/v1/.test(out.text)) {
    if (child.exitCode !== null) throw new Error(`serve ended: ${err.text}`);
    await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
  }
  const [, url = ''] = /Serving (http\S+)\/v1/.exec(out.text) ?? [];
  return { child, url, out, err };
}

const warningIn = ({ err }: { err: { text: string } }) => /^Warning: .*$/m.exec(err.text)?.[0];

async function stop(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
  const exited = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
  child.kill(signal);
  await exited;
  running.delete(child);
  return child.exitCode;
}

// Each test builds on the ones before it, on one embedded database.
describe('the commands', { shuffle: false }, () => {
  test('first `serve` creates a demo, hides its key unless stdout is a terminal, and prints a curl command that works', async () => {
    const first = await serve();
    const [, line = ''] = /^\s*(curl .*)$/m.exec(first.out.text) ?? [];
    const [, file = ''] = /passwords are in (\S+),/.exec(first.out.text) ?? [];
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const [raw = ''] = /ak_live_[0-9a-f]{64}/.exec(await readFile(file, 'utf8')) ?? [];
    expect(first.out.text + first.err.text).not.toMatch(/ak_live_[0-9a-f]{64}/);
    const pasted = spawn('bash', ['-c', line]);
    const answer = collect(pasted.stdout);
    await once(pasted, 'close');
    expect(JSON.parse(answer.text).data.length).toBeGreaterThan(0);
    expect(await stop(first.child)).toBe(0);
    const second = await serve();
    expect(warningIn(second)).toBeUndefined();
    expect(second.out.text).not.toMatch(/ak_live_[0-9a-f]{64}/);
    expect((await fetch(`${second.url}/v1/me`, { headers: { authorization: `Bearer ${raw}` } })).status).toBe(200);
    expect(await stop(second.child, 'SIGINT')).toBe(0);
  });

  test('serve creates no demo in production unless asked, and warns if PUBLIC_URL is missing', async () => {
    const production = { NODE_ENV: 'production', DATA_DIR: join(folder, 'production') };
    const first = await serve(production);
    expect(first.out.text).not.toContain('demo');
    expect(warningIn(first)).toBe(
      `Warning: PUBLIC_URL is not set, so every link in a response starts with ${first.url}.`,
    );
    expect(await stop(first.child)).toBe(0);
    const variables = { ...environment, DATABASE_URL: '', ...production };
    expect(await runCommand(['organizations', 'list', '--json'], variables)).toMatchObject({ status: 0, out: '[]\n' });
    const asked = await serve({ ...production, PUBLIC_URL: 'https://api.example.com' }, '--demo');
    expect(warningIn(asked)).toBeUndefined();
    expect(asked.out.text).toContain("The demo's API key and passwords are in");
    expect(await stop(asked.child)).toBe(0);
    await rm(join(folder, 'production', 'demo.txt'));
    const again = await serve(production, '--demo');
    expect(again.out.text).toContain('The key of the demo was shown only once;');
    expect(await stop(again.child)).toBe(0);
  });

  test('creates organizations, members and keys from a shell, with and without the server running', async () => {
    const acme = ['organizations', 'create', '--name', 'Acme', '--slug', 'acme', '--currency', 'eur'];
    expect(await run(...acme)).toMatchObject({ status: 0, err: '' });
    // From here on it keeps running; otherwise each command would start and stop it.
    database = await openEmbeddedPostgres({ dataDir: join(folder, 'data') });
    expect(await runHere(...acme)).toMatchObject({
      status: 1,
      err: 'error: The slug acme is already taken. Choose another.\n',
    });
    const add = ['members', 'add', '--organization', 'acme'];
    const [ann, bob] = ['ann@acme.example', 'bob@acme.example'];
    expect((await run(...add, '--email', ann, '--name', 'Ann', '--role', 'admin')).status).toBe(0);
    expect((await runHere(...add, '--email', bob, '--name', 'Bob', '--role', 'member')).status).toBe(0);
    const create = ['keys', 'create', '--organization', 'acme', '--name', 'n', '--by'];
    expect(await runHere(...create, ann)).toMatchObject({
      status: 1,
      out: '',
      err: expect.stringMatching(/^error: .*Team plan.*\n$/),
    });
    const { url, child, err } = await serve();
    const changed = await run('organizations', 'set-plan', 'acme', 'team', '--json');
    expect(JSON.parse(changed.out)).toMatchObject({ slug: 'acme', plan: 'team', currency: 'EUR' });
    expect(await runHere(...create, bob)).toMatchObject({ status: 1, err: expect.stringMatching(/admin/) });
    const made = await run(...create, ann);
    expect(made).toMatchObject({ status: 0, out: expect.stringMatching(/^ak_live_[0-9a-f]{64}\n$/) });
    const call = () => fetch(`${url}/v1/customers`, { headers: { authorization: `Bearer ${made.out.trim()}` } });
    expect((await call()).status).toBe(200);
    const [listed] = JSON.parse((await run('keys', 'list', '--organization', 'acme', '--json')).out);
    expect(listed).toMatchObject({ name: 'n', revokedAt: null });
    expect((await run('keys', 'revoke', listed.id, '--organization', 'acme', '--by', ann)).status).toBe(0);
    // The command took longer to exit than the half second for which a key is cached.
    expect((await call()).status).toBe(401);
    expect(err.text + child.exitCode).not.toContain(made.out.trim());
    await stop(child);
    expect(
      JSON.parse((await run('organizations', 'list', '--json')).out).map(({ slug }: { slug: string }) => slug),
    ).toContain('acme');
  });

  test('kill -9 loses no customer whose 201 arrived', async () => {
    const { url, child } = await serve();
    const create = ['keys', 'create', '--organization', 'acme', '--by', 'ann@acme.example', '--name', 'killed'];
    const raw = (await run(...create)).out.trim();
    const arrived: string[] = [];
    const post = async (index: number): Promise<void> => {
      const body = JSON.stringify({ name: `k${index}` });
      const headers = { authorization: `Bearer ${raw}`, 'content-type': 'application/json' };
      const response = await fetch(`${url}/v1/customers`, { method: 'POST', headers, body });
      if (response.status === 201) arrived.push(((await response.json()) as { id: string }).id);
      if (arrived.length === 30) child.kill('SIGKILL');
    };
    await Promise.allSettled(Array.from({ length: 90 }, (_, index) => post(index)));
    expect(arrived.length).toBeGreaterThanOrEqual(30);
    const again = await serve();
    const stored = new Set<string>();
    for (let next = `${again.url}/v1/customers?limit=100`; next;) {
      const page: any = await (await fetch(next, { headers: { authorization: `Bearer ${raw}` } })).json();
      for (const { id } of page.data) stored.add(id);
      next = page.pagination.nextUrl ?? '';
    }
    for (const id of arrived) expect(stored).toContain(id);
    await stop(again.child);
  });

  test('reports a port in use, an invalid variable and an unknown argument in one line each', async () => {
    const taken = createServer();
    const port = await listen(taken);
    const errorOf = async (variables: NodeJS.ProcessEnv, ...words: string[]) => {
      const { status, err } = await runCommand(words, { ...environment, DATABASE_URL: '', ...variables });
      expect(status).toBe(1);
      return err;
    };
    const PORT = String(port);
    const DATA_DIR = join(tmpdir(), `proposal-api-unused-${port}`);
    expect(await errorOf({ PORT }, 'serve')).toMatch(new RegExp(`^error: Port ${port} is already taken[^\n]*\n$`));
    expect(await errorOf({ PORT, DATA_DIR }, 'serve')).toContain(`Port ${port} is already taken`);
    expect(existsSync(DATA_DIR)).toBe(false);
    expect(await errorOf({ HOST: '[::1]' }, 'serve')).toMatch(
      /^error: Cannot listen: [^\n]+\. HOST must be an address of this machine, without brackets or a port\.\n$/,
    );
    expect(await errorOf({ METRICS_PORT: PORT }, 'serve')).toContain(
      `choose another with METRICS_PORT, for example METRICS_PORT=${port + 1}.`,
    );
    expect(await errorOf({ REDIS_ULR: 'redis://localhost', PORT }, 'serve')).toContain(
      'REDIS_ULR is not a variable of this service; did you mean REDIS_URL?',
    );
    expect(await errorOf({ PORT: 'http' }, 'serve')).toMatch(/^error: PORT [^\n]*\n$/);
    const DATABASE_URL = 'postgresql://nobody@127.0.0.1:1/none';
    expect(await errorOf({ DATABASE_URL }, 'migrate')).toMatch(/^error: The database at DATABASE_URL[^\n]*\n$/);
    taken.close();
    expect(await errorOf({}, 'nonsense')).toMatch(/^error: unknown command/);
    for (const [words, sentence] of [
      ['serve --workers 0', 'It must be a whole number from 1 to 128.'],
      ['serve --workers 1.5', 'It must be a whole number from 1 to 128.'],
      ['serve --workers 1e1', 'It must be a whole number from 1 to 128.'],
      ['organizations create --slug Acme', 'It must have 1 to 50 of the characters a-z, 0-9 and -,'],
      ['organizations create --currency EURO', 'It must be an ISO 4217 code such as USD.'],
      ['keys list --organization ', 'It must not be empty.'],
      ['backup ', 'It must not be empty.'],
      ['restore ', 'It must not be empty.'],
      ['export items  --organization x', 'It must not be empty.'],
    ] as const)
      expect(await errorOf({}, ...words.split(' '))).toContain(sentence);
    // The one that a process prints and exits with.
    expect(await run('keys', 'list', '--organisation', 'acme')).toMatchObject({
      status: 1,
      err: expect.stringMatching(/^error: /),
    });
  });

  test('exits quietly if its output is closed early, as by head', async () => {
    const child = spawn(process.execPath, [program, 'openapi'], { env: environment });
    const err = collect(child.stderr);
    child.stdout.once('data', () => child.stdout.destroy());
    const [status] = await once(child, 'close');
    expect([status, err.text]).toEqual([0, '']);
  });

  test('exits as if by SIGPIPE if its output is closed before a file is complete', async () => {
    const child = spawn(process.execPath, [program, 'backup', '-'], { env: environment });
    const err = collect(child.stderr);
    // Before anything is written: after the first bytes, the rest may have been written already.
    child.stdout.destroy();
    const [status] = await once(child, 'close');
    expect([status, err.text]).toEqual([128 + constants.signals.SIGPIPE, '']);
  });

  test.runIf(existsSync('/dev/full')).each([['backup', '-'], ['openapi'], ['--help']])(
    'reports a full disk in one line: %s',
    async (...words) => {
      const shell = ['-c', 'exec "$0" "$@" > /dev/full', process.execPath, program, ...words];
      const child = spawn('sh', shell, { env: environment });
      const err = collect(child.stderr);
      const [status] = await once(child, 'close');
      expect(status).toBe(1);
      expect(err.text).toMatch(/^error: standard output cannot be written: ENOSPC[^\n]*\n$/);
    },
  );

  test('every command has a help page, and openapi needs no database', async () => {
    const overview = (await runCommand(['--help'], {})).out;
    const names = [...overview.matchAll(/^ {2}([a-z]+) {2,}/gm)].map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(10);
    for (const name of names) expect(await helpOf(name)).toContain(`npx proposal-api ${name}`);
    expect(await helpOf('keys', 'create')).toMatch(/what the key is for \(required\) --expires [^-]* -h/);
    const file = join(folder, 'openapi.json');
    const url = 'https://api.acme.example';
    const none = { DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none', PUBLIC_URL: url };
    expect(await runCommand(['openapi', '--output', file], none)).toMatchObject({ status: 0, out: '' });
    const document = JSON.parse(await readFile(file, 'utf8'));
    expect(document).toMatchObject({ openapi: expect.stringMatching(/^3\.1/), servers: [{ url }] });
  });

  test('import reports bad rows with their line, keeps the rest, and exits with 2', async () => {
    const file = join(folder, 'customers.csv');
    await writeFile(file, 'externalId,name,email\n1,Ann,ann@example.com\n2,Bob,nonsense\n3,Cid,\n');
    const first = await run('import', 'customers', file, '--organization', 'acme');
    expect(first).toMatchObject({ status: 2, err: expect.stringMatching(/line 3: email/) });
    expect(first.out).toContain('2 created');
    const second = await runHere('import', 'customers', file, '--organization', 'acme');
    expect(second.out).toContain('2 unchanged');
  });
});

test('a table may have more rows than a function takes arguments', () => {
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  onTestFinished(() => written.mockRestore());
  printTable(Array.from({ length: 150_000 }, (_, index) => ({ slug: `acme-${index}`, plan: 'team' })));
  const lines = written.mock.calls.join('').split('\n');
  expect([lines.length, lines[0], lines[1]]).toEqual([150_002, 'slug         plan', 'acme-0       team']);
});
