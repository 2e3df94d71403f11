/**
 * Builds the client's package: `node client/build/build.ts` compiles it to client/dist/, as `npm pack ./client` does first;
 * with `--tarball FILE` it leaves the checkout as it is and writes the file that `npm pack` would.
 */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
    await run(process.execPath, [compiler, '--project', client, '--outDir', output, ...options]);
    for (const file of await readdir(output)) {
      if (file.endsWith('.d.ts')) await nameJavaScript(join(output, file));
    }
  }
  // The package is a module, this part of it is not.
  await writeFile(join(folder, 'dist/cjs/package.json'), '{ "type": "commonjs" }\n');
}

/** The compiler leaves `./types.ts` in declarations, where every resolver understands `./types.js`. */
async function nameJavaScript(file: string): Promise<void> {
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replaceAll(/ from '(\.\/[\w-]+)\.ts'/g, " from '$1.js'"));
}

async function pack(file: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'proposal-api-client-'));
  try {
    for (const part of ['package.json', 'README.md', 'LICENSE']) await cp(join(client, part), join(folder, part));
    await compile(folder);
    const options = ['--ignore-scripts', '--offline', '--cache', join(folder, '.npm'), '--pack-destination', folder];
    await run('npm', ['pack', folder, ...options], { cwd: folder });
    const packed = (await readdir(folder)).find((name) => name.endsWith('.tgz')) ?? '';
    // Nobody sees it half written. A rename cannot cross file systems, hence the copy.
    await cp(join(folder, packed), `${file}.new`);
    await rename(`${file}.new`, file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const { values } = parseArgs({ options: { tarball: { type: 'string' } } });
await (values.tarball === undefined ? compile(client) : pack(values.tarball));
