/**
 * `npm run build`: the service as JavaScript in dist/, with its pages and guides beside the code, and dist/client.tgz, the
 * typed client that it serves.
 */
import { execFile } from 'node:child_process';
import { cp, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

async function build(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  await run(process.execPath, [compiler, '--project', join(root, 'tsconfig.build.json'), '--outDir', folder]);
  const isAsset = (path: string) => !path.endsWith('.ts') && path !== join(root, 'server/build');
  await cp(join(root, 'server'), join(folder, 'server'), { recursive: true, filter: isAsset });
  await run(process.execPath, [join(root, 'client/build/build.ts'), '--tarball', join(folder, 'client.tgz')]);
}

const { values } = parseArgs({ options: { output: { type: 'string', default: join(root, 'dist') } } });
await build(resolve(values.output));
