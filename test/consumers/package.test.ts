/** The typed client in other people's projects: their compilers, module systems, runtimes and bundlers. */
import { existsSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientName, packAll, root, run } from '../compiler/packed.ts';
import type { Packed } from '../compiler/packed.ts';
import { useWorld } from '../world.ts';
import { undocumented } from './hover.ts';

const tools = join(root, 'test/consumers/node_modules');
const compilers = {
  '5.0': join(tools, 'typescript-5.0/bin/tsc'),
  '5.9': join(tools, 'typescript/bin/tsc'),
  '7.0': join(root, 'node_modules/typescript/bin/tsc'),
};
/** Installed where they exist for this platform. */
const runtimes = {
  'Node 20': join(tools, 'node-20-linux-x64/bin/node'),
  'Node 22': join(tools, 'node-22-linux-x64/bin/node'),
  'Node 24': process.execPath,
  Bun: join(tools, '@oven/bun-linux-x64/bin/bun'),
};

let packed: Awaited<ReturnType<typeof packAll>>;
let client: Packed;
beforeAll(async () => {
  packed = await packAll();
  ({ client } = packed);
});
afterAll(() => packed?.remove());

const body = `
async function use(baseUrl: string, apiKey: string): Promise<string> {
  const client: Client = createClient({ baseUrl, apiKey });
  const made: Customer = await client.customers.create({ name: 'Ann', address: { city: 'Berlin' } }, { onConflict: 'error' });
  const { data, pagination } = await client.customers.list({ updatedSince: new Date(0), limit: 5 });
  const names: string[] = [];
  for await (const { name, tags } of client.customers.sync({ since: null })) names.push(name, ...tags);
  const { etag, rateLimit } = await client.customers.get.withResponse(made.id);
  const error: unknown = await client.items.create({ type: 'product', name: '', unitPrice: 1.5 }).catch((reason) => reason);
  if (!isApiError(error) || !error.is('validation_failed')) throw error;
  return JSON.stringify([names, data.length, pagination.hasMore, typeof etag, rateLimit?.limit, error.errors[0]?.field]);
}
use(process.argv[2] ?? '', process.argv[3] ?? '').then((text) => console.log(text));
`;
const imports = `import { createClient, isApiError } from '${clientName}';\nimport type { Client, Customer } from '${clientName}';\n`;
const globals = 'declare const process: { argv: string[] };\n';
const expected = '[["Ann"],1,false,"string",100,"name"]\n';

/** Compiles files in a folder beside the installed client, and returns the compiler's output. */
async function compile(
  compiler: string,
  name: string,
  settings: object,
  files: Record<string, string>,
): Promise<string> {
  const folder = join(client.project, name.replaceAll(/[^\w.]/g, '-'));
  await mkdir(folder, { recursive: true });
  for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text);
  const strict = { target: 'es2022', strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false };
  const compilerOptions = { lib: ['es2022', 'dom'], types: [], ...strict, ...settings };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  return run(process.execPath, [compiler, '--pretty', 'false'], { cwd: folder }).then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  );
}

describe('types', () => {
  const resolutions = [
    { module: 'nodenext', moduleResolution: 'nodenext', files: ['use.mts', 'use.cts'] },
    { module: 'node16', moduleResolution: 'node16', files: ['use.mts', 'use.cts'] },
    { module: 'esnext', moduleResolution: 'bundler', files: ['use.ts'] },
  ];
  const cases = Object.keys(compilers).flatMap((version) =>
    resolutions.map((resolution) => ({ version, ...resolution })),
  );

  test.each(cases)('compile under TypeScript $version, $moduleResolution', async ({ version, files, ...settings }) => {
    const compiler = compilers[version as keyof typeof compilers];
    const texts = Object.fromEntries(files.map((file) => [file, `${imports}${globals}${body}`]));
    expect(await compile(compiler, `${version}-${settings.moduleResolution}`, settings, texts)).toBe('');
  });

  test('compile with Node’s types instead of a browser’s', async () => {
    const types = join(client.project, 'with-node/node_modules/@types');
    await mkdir(dirname(types), { recursive: true });
    await symlink(join(root, 'node_modules/@types'), types);
    const settings = { module: 'nodenext', lib: ['es2022'], types: ['node'], skipLibCheck: true };
    expect(await compile(compilers['5.9'], 'with-node', settings, { 'use.mts': imports + body })).toBe('');
  });

  test('compile without Node’s or a browser’s types', async () => {
    const bare = `${globals}declare const console: { log(text: string): void };\n`;
    const files = { 'use.mts': `${imports}${bare}${body}` };
    expect(await compile(compilers['5.9'], 'bare', { module: 'nodenext', lib: ['es2022'] }, files)).toBe('');
  });

  test.each(Object.entries(compilers))('catch a mistake under TypeScript %s', async (version, compiler) => {
    const wrong = `${imports}${globals}${body.replace("name: 'Ann'", "nmae: 'Ann'")}`;
    const said = await compile(compiler, `wrong-${version}`, { module: 'nodenext' }, { 'use.mts': wrong });
    expect(said).toContain("'nmae' does not exist in type 'CustomerCreate'");
  });

  test('are found by every module resolver', async () => {
    const { stdout } = await run(join(tools, '.bin/attw'), [client.tarball, '--format', 'ascii']);
    expect(stdout.match(/^(?:node10|node16 \(from CJS\)|node16 \(from ESM\)|bundler): 🟢/gm)).toHaveLength(12);
  });

  test('explain every method, field and option in an editor', () => {
    expect(undocumented(client)).toEqual([]);
  });
});

describe('the package runs', () => {
  const world = useWorld();
  const reader = async () => [world.url, (await world.organization()).key];

  beforeAll(async () => {
    const files = { 'use.mts': `${imports}${globals}${body}`, 'use.cts': `${imports}${globals}${body}` };
    const said = await compile(compilers['7.0'], 'run', { module: 'nodenext' }, files);
    if (said !== '') throw new Error(said);
  });

  for (const [name, runtime] of Object.entries(runtimes)) {
    if (!existsSync(runtime)) continue;
    test.each(['use.mjs', 'use.cjs'])(`in ${name}: %s`, async (file) => {
      const { stdout } = await run(runtime, [join(client.project, 'run', file), ...(await reader())]);
      expect(stdout).toBe(expected);
    });
  }

  test('in an esbuild bundle', async () => {
    const { build } = createRequire(import.meta.url)('esbuild');
    const outfile = join(client.project, 'run/esbuild.mjs');
    await build({
      entryPoints: [join(client.project, 'run/use.mts')],
      outfile,
      bundle: true,
      format: 'esm',
      minify: true,
    });
    expect((await run(process.execPath, [outfile, ...(await reader())])).stdout).toBe(expected);
  });

  test('in a Vite bundle', async () => {
    const { build } = await import('vite');
    const outDir = join(client.project, 'run/vite');
    const entry = join(client.project, 'run/use.mts');
    const lib = { entry, formats: ['es' as const], fileName: () => 'use.mjs' };
    await build({ configFile: false, logLevel: 'silent', root: join(client.project, 'run'), build: { outDir, lib } });
    expect((await run(process.execPath, [join(outDir, 'use.mjs'), ...(await reader())])).stdout).toBe(expected);
  });
});
