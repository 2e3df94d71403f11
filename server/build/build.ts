/**
 * `npm run build` writes the service as JavaScript to dist/server/, with its pages and guides beside the code, and every
 * version of the typed client that it serves to dist/client/. All libraries but the embedded PostgreSQL are bundled: it
 * runs without node_modules, and starts in half the time, because Node need not load 1,000 modules one by one.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { rolldown } from 'rolldown';
import type { InputOptions } from 'rolldown';
import { readVersion } from '../files.ts';
import { languages } from '../web/docs/highlight.ts';
import { licensesOf } from './licenses.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Files of libraries that the pages load by path. */
const filesOfLibraries = [
  '@picocss/pico/package.json',
  '@picocss/pico/css/pico.min.css',
  'highlight.js/package.json',
  'highlight.js/lib/core.js',
  ...languages.map((language) => `highlight.js/lib/languages/${language}.js`),
];

/** Without this, Rolldown leaves imports that it cannot resolve to Node, and the service fails when it starts. */
export const failIfUnresolved: InputOptions['onLog'] = (level, log, report) => {
  if (log.code === 'UNRESOLVED_IMPORT') throw new Error(log.message);
  report(level, log);
};

async function build(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  const bundle = await rolldown({
    cwd: root,
    input: ['server/main.ts', 'server/start.ts', 'server/uploads/worker.ts'],
    platform: 'node',
    onLog: failIfUnresolved,
  });
  // MikroORM reads class names. All chunks are in one folder, where server/files.ts looks for the other files.
  const { output } = await bundle.write({ dir: join(folder, 'server'), chunkFileNames: '[name].js', keepNames: true });
  for (const assets of ['demo', 'deployment', 'web/docs', 'web/settings']) {
    const isAsset = (path: string) => !path.endsWith('.ts');
    await cp(join(root, 'server', assets), join(folder, 'server', assets), { recursive: true, filter: isAsset });
  }
  await cp(join(root, 'CHANGELOG.md'), join(folder, 'CHANGELOG.md'));
  for (const file of filesOfLibraries) await cp(join(root, 'node_modules', file), join(folder, 'node_modules', file));
  const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
  const copied = filesOfLibraries.map((file) => join(root, 'node_modules', file));
  await writeFile(join(folder, 'LICENSES.txt'), await licensesOf([...modules, ...copied]));
  await addClients(join(folder, 'client'));
}

/** Every released version of the client, and this one. */
async function addClients(folder: string): Promise<void> {
  const releases = join(root, 'client/releases');
  await mkdir(folder, { recursive: true });
  if (existsSync(releases)) await cp(releases, folder, { recursive: true });
  const current = join(folder, `${readVersion()}.tgz`);
  const program = join(root, 'client/build/build.ts');
  if (!existsSync(current)) await promisify(execFile)(process.execPath, [program, '--tarball', current]);
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { output: { type: 'string', default: join(root, 'dist') } } });
  await build(resolve(values.output));
}
