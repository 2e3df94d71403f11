/** The two packages as users get them. */
import { createHash } from 'node:crypto';
import { appendFile, cp, mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { publint } from 'publint';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createClient } from '../../client/index.ts';
import { failIfUnresolved } from '../../server/build/build.ts';
import { start, startServing } from '../faults/processes.ts';
import type { Running } from '../faults/processes.ts';
import { proposal } from '../records.ts';
import { useWorld } from '../world.ts';
import { clientName, packAll, root, run } from './packed.ts';
import type { AllPacked, Packed } from './packed.ts';

let packed: AllPacked;
beforeAll(async () => {
  packed = await packAll();
});
afterAll(() => packed?.remove());

const each = (): Packed[] => [packed.server, packed.client];
/** The text of each file in the tarball, by its path. */
async function contentsOf(tarball: string): Promise<Record<string, string>> {
  const folder = await mkdtemp(join(packed.client.project, 'contents-'));
  await run('tar', ['--extract', '--strip-components=1', '--file', tarball, '--directory', folder]);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const read = async (file: string) => [relative(folder, file), await readFile(file, 'utf8')] as const;
  return Object.fromEntries(await Promise.all(files.map(read)));
}
const manifestOf = async ({ installed }: Packed) => JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));

describe('the packages', () => {
  test('contain built code and nothing else', () => {
    const known: Record<string, RegExp> = {
      'proposal-api':
        /^(?:dist\/server\/[\w.-]+\.js|dist\/server\/web\/(?:docs|settings)\/.+|dist\/server\/deployment\/[\w.-]+|dist\/server\/demo\/\w+\.(?:csv|jsonl)|dist\/client\/(?:[\d.]+\.tgz|SHA512SUMS)|dist\/node_modules\/(?:@picocss\/pico|highlight\.js)\/.+|server\/proposal-api\.js|package\.json|(?:dist\/)?[A-Z]+(?:\.md|\.txt)?)$/,
      [clientName]:
        /^(?:dist\/(?:esm|cjs)\/[\w-]+\.(?:js|js\.map|d\.ts)|dist\/cjs\/package\.json|package\.json|README\.md|LICENSE)$/,
    };
    for (const { name, files } of each()) {
      expect(files.length, name).toBeGreaterThan(20);
      expect(
        files.filter((file) => !known[name]?.test(file)),
        name,
      ).toEqual([]);
    }
    expect(packed.client.files).toEqual(
      expect.arrayContaining(['dist/esm/index.d.ts', 'dist/cjs/index.js', 'README.md']),
    );
  });

  test('fail to build if a library imports something that does not exist', async () => {
    const project = await mkdtemp(join(packed.client.project, 'unresolved-'));
    const library = join(project, 'node_modules/library');
    await mkdir(library, { recursive: true });
    await writeFile(join(library, 'index.js'), "import 'absent';");
    await writeFile(join(project, 'use.mjs'), "import 'library';");
    const bundle = await rolldown({ input: join(project, 'use.mjs'), onLog: failIfUnresolved });
    await expect(bundle.generate()).rejects.toThrow(/absent/);
  });

  test('pass publint', async () => {
    for (const { installed, name } of each()) {
      const { messages } = await publint({ pkgDir: installed, pack: false, strict: true });
      expect(messages, name).toEqual([]);
    }
  });

  test('have the same version, and the client has no dependencies', async () => {
    const [server, client] = await Promise.all(each().map(manifestOf));
    expect(client.version).toBe(server.version);
    for (const kind of ['dependencies', 'peerDependencies', 'optionalDependencies'])
      expect(client[kind]).toBeUndefined();
  });

  test('`npm pack ./client` makes the same package, except for the build script', async () => {
    const { project, tarball } = packed.client;
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', project, join(root, 'client')]);
    const [{ filename }] = JSON.parse(stdout.slice(stdout.indexOf('[')));
    const [made, served] = await Promise.all([contentsOf(join(project, filename)), contentsOf(tarball)]);
    const { scripts, ...manifest } = JSON.parse(made['package.json'] ?? '');
    expect(Object.keys(scripts)).toEqual(['prepack']);
    expect(JSON.parse(served['package.json'] ?? '')).toEqual(manifest);
    expect({ ...made, 'package.json': served['package.json'] }).toEqual(served);
  });
});

describe('the installed command', () => {
  test('runs as JavaScript', async () => {
    const program = join(packed.server.installed, 'server/proposal-api.js');
    const help = await run(process.execPath, [program, '--help']);
    expect(help.stdout).toContain('serve');
    const { stdout } = await run(process.execPath, [program, 'openapi'], { maxBuffer: 1e8 });
    expect(JSON.parse(stdout)).toMatchObject({ openapi: '3.1.1' });
  });
});

describe('the build, without node_modules', () => {
  const world = useWorld();
  let serving: Running;
  beforeAll(async () => {
    // As if the package of this build had been released before, under an older version.
    const clients = join(packed.built, 'client');
    const bytes = await readFile(packed.client.tarball);
    await writeFile(join(clients, '0.9.0.tgz'), bytes);
    await appendFile(join(clients, 'SHA512SUMS'), `${createHash('sha512').update(bytes).digest('hex')}  0.9.0.tgz\n`);
    const environment = { DATABASE_URL: inject('databaseUrl') };
    serving = await startServing([], environment, join(packed.built, 'server/main.js'));
  });
  afterAll(() => serving?.end('SIGTERM'));

  test('serves the API', async () => {
    const { key } = await world.organization();
    const client = createClient({ baseUrl: serving.url, apiKey: key });
    const { id } = await client.customers.create({ name: 'Ann' });
    await client.customers.update(id, { tags: ['built'] });
    expect(await client.customers.list({ tag: 'built' })).toMatchObject({ data: [{ id, name: 'Ann' }] });
    await expect(client.items.create({ name: '' } as never)).rejects.toMatchObject({ status: 422 });
  });

  test('serves the pages, every file that they refer to, and the client', async () => {
    for (const path of ['/docs', '/docs/operating', '/docs/reference', '/settings/sign-in']) {
      const page = await fetch(serving.url + path);
      expect(page.status, path).toBe(200);
      const files = [...(await page.text()).matchAll(/(?:href|src)="(\/[^"]+\/assets\/[^"]+)"/g)].map(
        ([, file]) => file,
      );
      expect(files.length, path).toBeGreaterThan(0);
      for (const file of files) expect((await fetch(serving.url + file)).status, file).toBe(200);
    }
    expect(await (await fetch(`${serving.url}/docs/operating`)).text()).toContain('hljs-');
    for (const path of ['/client.tgz', '/client-0.9.0.tgz']) {
      const served = await fetch(serving.url + path);
      expect(Buffer.from(await served.arrayBuffer()), path).toEqual(await readFile(packed.client.tarball));
    }
  });

  test('marks a client as immutable for caches only if it is released', async () => {
    const cacheControl = async (version: string) =>
      (await fetch(`${serving.url}/client-${version}.tgz`)).headers.get('cache-control');
    const sums = await readFile(join(root, 'client/releases/SHA512SUMS'), 'utf8').catch(() => '');
    const { version } = await manifestOf(packed.client);
    const lasting = 'public, max-age=31536000, immutable';
    expect(await cacheControl('0.9.0')).toBe(lasting);
    expect(await cacheControl(version)).toBe(sums.includes(`  ${version}.tgz\n`) ? lasting : 'public, max-age=300');
  });
});

test('a build without package.json says so and exits', async () => {
  const folder = join(packed.client.project, '../incomplete');
  await cp(packed.built, join(folder, 'dist'), { recursive: true });
  const environment = { DATABASE_URL: inject('databaseUrl'), PORT: '0' };
  const { output, exited } = start(['serve'], environment, join(folder, 'dist/server/main.js'));
  expect(await exited).toEqual([1, null]);
  expect(output.text).toContain(join(folder, 'package.json'));
});

describe('a project that installed the client', () => {
  const world = useWorld();

  test('compiles the six lines of the README without skipLibCheck, and reads its first record', async () => {
    const tenant = await world.organization();
    const customer = String((await tenant.call('POST', '/v1/customers', { name: 'Ann' })).body.id);
    const times = { sentAt: '2026-01-01T00:00:00.000Z', acceptedAt: '2026-01-02T00:00:00.000Z' };
    await proposal(tenant, { customer, status: 'accepted', number: 'P-7', ...times });
    const { project, installed } = packed.client;
    const [, lines = ''] = /```ts\n([\s\S]*?)```/.exec(await readFile(join(installed, 'README.md'), 'utf8')) ?? [];
    expect(lines.trim().split('\n')).toHaveLength(6);
    const program = lines.replaceAll('https://api.example.com', world.url).replaceAll('ak_live_…', tenant.key);
    await writeFile(join(project, 'six.mts'), program);
    const settings = { target: 'es2022', lib: ['es2022', 'dom'], module: 'nodenext', types: [], strict: true };
    const strictest = { noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, skipLibCheck: false };
    await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...settings, ...strictest } }));
    await run(join(root, 'node_modules/.bin/tsc'), [], { cwd: project });
    expect((await run(process.execPath, ['six.mjs'], { cwd: project })).stdout).toContain('P-7');
  });

  test('may pass undefined for every optional property, even with exactOptionalPropertyTypes', async () => {
    const folder = join(packed.client.installed, 'dist/esm');
    const files = (await readdir(folder)).filter((name) => name.endsWith('.d.ts'));
    const text = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
    const optional = text.join('\n').match(/^ +\w+\?: (?!never;).*$/gm) ?? [];
    expect(optional.length).toBeGreaterThan(100);
    expect(optional.filter((line) => !line.endsWith(' | undefined;'))).toEqual([]);
  });

  test('loads it from CommonJS as well', async () => {
    const program = `const { createClient } = require('${clientName}'); console.log(createClient.name);`;
    await writeFile(join(packed.client.project, 'use.cjs'), program);
    expect((await run(process.execPath, ['use.cjs'], { cwd: packed.client.project })).stdout).toBe('createClient\n');
  });

  test('bundles it for a browser, small and self-contained', async () => {
    const { code, imports, gzipped } = await bundleOf(`export { createClient, isApiError } from '${clientName}';`);
    process.stdout.write(`client ${gzipped} bytes gzipped\n`);
    expect(gzipped).toBeLessThan(5_000);
    expect(imports).toEqual([]);
    expect(code).not.toMatch(/\bnode:|\brequire\(|\bprocess\.|\bBuffer\b/);
  });

  async function bundleOf(program: string): Promise<{ code: string; imports: string[]; gzipped: number }> {
    const input = join(packed.client.project, 'bundle.mjs');
    await writeFile(input, program);
    const bundle = await rolldown({ input, platform: 'browser', logLevel: 'silent' });
    const { output } = await bundle.generate({ minify: true });
    await bundle.close();
    const code = output.map((part) => (part.type === 'chunk' ? part.code : '')).join('');
    const imports = output.flatMap((part) => (part.type === 'chunk' ? part.imports : []));
    return { code, imports, gzipped: gzipSync(code).length };
  }
});
