/** The packages as their users have them: built, packed, and put where npm puts them, beside what they say they need. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build, clientName } from './build.ts';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const run = promisify(execFile);

export type Packed = {
  name: string;
  /** The file that `npm pack` made. */
  tarball: string;
  /** Paths in it. */
  files: string[];
  /** A project that has the package installed, and nothing else. */
  project: string;
  /** Where the package lies in the project. */
  installed: string;
};

export async function packAll(): Promise<{ server: Packed; client: Packed; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'proposal-api-package-'));
  // As in a checkout, but away from it: others may be building there.
  const checkout = join(folder, 'checkout');
  const parts = ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'SECURITY.md', 'server/proposal-api.js'];
  for (const part of parts) await cp(join(root, part), join(checkout, part), { recursive: true });
  await symlink(join(root, 'node_modules'), join(checkout, 'node_modules'));
  await build(join(checkout, 'dist'));
  const server = await pack('proposal-api', checkout, join(folder, 'server'));
  const client = await pack(clientName, join(checkout, 'dist'), join(folder, 'client'));
  return { server, client, remove: () => rm(folder, { recursive: true, force: true }) };
}

async function pack(name: string, from: string, project: string): Promise<Packed> {
  const installed = join(project, 'node_modules', name);
  await mkdir(installed, { recursive: true });
  const words = ['pack', '--json', '--ignore-scripts', '--pack-destination', project, from];
  const { stdout } = await run('npm', words, { cwd: project });
  const tarball = join(project, `${name}-${await versionOf(from)}.tgz`);
  await run('tar', ['--extract', '--strip-components=1', '--file', tarball, '--directory', installed]);
  const { dependencies } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
  for (const dependency of Object.keys(dependencies)) {
    const place = join(project, 'node_modules', dependency);
    await mkdir(dirname(place), { recursive: true });
    await symlink(join(root, 'node_modules', dependency), place);
  }
  const files = [...stdout.matchAll(/"path": "([^"]+)"/g)].map(([, path = '']) => path);
  return { name, tarball, files, project, installed };
}

const versionOf = async (folder: string): Promise<string> =>
  JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')).version;
