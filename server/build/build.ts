/**
 * `npm run build`: the service as JavaScript in dist/server/, with its pages and guides beside the code, and dist/client.tgz,
 * the typed client that it serves. It contains the libraries, all but the embedded PostgreSQL: it runs without node_modules,
 * and starts in half the time, because Node need not load 1,000 modules one by one.
 */
import { execFile } from 'node:child_process';
import { cp, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { languages } from '../web/docs/highlight.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What the pages load from libraries by path. */
const filesOfLibraries = [
  '@picocss/pico/package.json',
  '@picocss/pico/css/pico.min.css',
  'highlight.js/package.json',
  'highlight.js/lib/core.js',
  ...Object.values(languages).map((language) => `highlight.js/lib/languages/${language}.js`),
];

async function build(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  const bundle = await rolldown({ cwd: root, input: 'server/main.ts', platform: 'node' });
  // MikroORM reads the names of classes. The files are in one folder, where server/files.ts looks for the others.
  await bundle.write({ dir: join(folder, 'server'), chunkFileNames: '[name].js', keepNames: true });
  for (const assets of ['demo', 'web/docs', 'web/settings']) {
    const isAsset = (path: string) => !path.endsWith('.ts');
    await cp(join(root, 'server', assets), join(folder, 'server', assets), { recursive: true, filter: isAsset });
  }
  for (const file of filesOfLibraries) await cp(join(root, 'node_modules', file), join(folder, 'node_modules', file));
  const client = join(root, 'client/build/build.ts');
  await promisify(execFile)(process.execPath, [client, '--tarball', join(folder, 'client.tgz')]);
}

const { values } = parseArgs({ options: { output: { type: 'string', default: join(root, 'dist') } } });
await build(resolve(values.output));
