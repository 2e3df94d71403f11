/**
 * Builds the client's package. `node client/build/build.ts` compiles it to client/dist/, as `npm pack ./client` does
 * first. With `--tarball FILE`, it leaves the checkout unchanged and writes what `npm pack` would, without the script
 * of the package. With `--release`, it keeps that file in client/releases/, and the service serves it permanently.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFile, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';

const run = promisify(execFile);
const client = fileURLToPath(new URL('..', import.meta.url));
const compiler = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));

/** Module system → the compiler's options for it. */
const formats = {
  esm: [],
  cjs: ['--module', 'commonjs', '--moduleResolution', 'bundler', '--verbatimModuleSyntax', 'false'],
};

/** Writes dist/esm and dist/cjs into the folder. */
async function compile(folder: string): Promise<void> {
  await rm(join(folder, 'dist'), { recursive: true, force: true });
  for (const [format, options] of Object.entries(formats)) {
    const output = join(folder, 'dist', format);
    const maps = ['--sourceMap', '--inlineSources'];
    await run(process.execPath, [compiler, '--project', client, '--outDir', output, ...maps, ...options]);
    for (const file of await readdir(output)) {
      if (file.endsWith('.d.ts')) await nameJavaScript(join(output, file));
      if (file.endsWith('.js.map')) await nameSource(join(output, file));
    }
  }
  // The package is an ES module; this part of it is CommonJS.
  await writeFile(join(folder, 'dist/cjs/package.json'), '{ "type": "commonjs" }\n');
}

/** The compiler leaves `./types.ts` in declarations, where every resolver understands `./types.js`. */
async function nameJavaScript(file: string): Promise<void> {
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replaceAll(/ from '(\.\/[\w-]+)\.ts'/g, " from '$1.js'"));
}

/** Gives every build the same bytes: the compiler writes the path from the output to this folder, which varies. */
async function nameSource(file: string): Promise<void> {
  const map = JSON.parse(await readFile(file, 'utf8')) as { sources: string[] };
  map.sources = map.sources.map((source) => `../../${basename(source)}`);
  await writeFile(file, JSON.stringify(map));
}

async function pack(file: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'proposal-api-client-'));
  try {
    for (const part of ['README.md', 'LICENSE']) await cp(join(client, part), join(folder, part));
    // The package's script works only in this folder.
    const { scripts: _, ...manifest } = Object(JSON.parse(await readFile(join(client, 'package.json'), 'utf8')));
    await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
    await compile(folder);
    const options = ['--ignore-scripts', '--offline', '--cache', join(folder, '.npm'), '--pack-destination', folder];
    await run('npm', ['pack', folder, ...options], { cwd: folder });
    const packed = (await readdir(folder)).find((name) => name.endsWith('.tgz')) ?? '';
    // A rename, so no one sees a partial file. It cannot cross file systems, hence the copy.
    await cp(join(folder, packed), `${file}.new`);
    await rename(`${file}.new`, file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Keeps this version's package in the repository. A released version cannot be released again with other bytes. */
async function release(): Promise<void> {
  const { version } = JSON.parse(await readFile(join(client, 'package.json'), 'utf8')) as { version: string };
  const kept = join(client, 'releases', `${version}.tgz`);
  const fresh = `${kept}.fresh`;
  await mkdir(join(client, 'releases'), { recursive: true });
  await pack(fresh);
  const [now, before] = await Promise.all([readFile(fresh), readFile(kept).catch(() => undefined)]);
  if (before?.equals(now) === false) {
    await rm(fresh);
    throw new Error(`Version ${version} is already released with different contents: raise the version.`);
  }
  await rename(fresh, kept);
  if (before) return;
  const hash = createHash('sha512').update(now).digest('hex');
  await appendFile(join(client, 'releases/SHA512SUMS'), `${hash}  ${version}.tgz\n`);
}

const { values } = parseArgs({ options: { tarball: { type: 'string' }, release: { type: 'boolean' } } });
if (values.release) await release();
else await (values.tarball === undefined ? compile(client) : pack(values.tarball));
