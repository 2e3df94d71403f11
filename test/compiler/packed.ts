/** The packages as users get them: built, packed, and installed in a separate project. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const run = promisify(execFile);
export const clientName = '@proposal-api/client';

export type Packed = {
  name: string;
  tarball: string;
  /** Paths in the tarball. */
  files: string[];
  /** A project with only this package installed. */
  project: string;
  /** Where the package is in the project. */
  installed: string;
};

export type AllPacked = {
  server: Packed;
  client: Packed;
  /** The output of `npm run build`, without a node_modules folder above it. */
  built: string;
  remove(): Promise<void>;
};

export async function packAll(): Promise<AllPacked> {
  const folder = await mkdtemp(join(tmpdir(), 'proposal-api-package-'));
  // A copy of the checkout, where other processes may be building.
  const checkout = join(folder, 'checkout');
  const parts = ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'SECURITY.md', 'server/proposal-api.js'];
  for (const part of parts) await cp(join(root, part), join(checkout, part), { recursive: true });
  await symlink(join(root, 'node_modules'), join(checkout, 'node_modules'));
  await run(process.execPath, [join(root, 'server/build/build.ts'), '--output', join(checkout, 'dist')]);
  const words = ['pack', '--ignore-scripts', '--pack-destination', folder, checkout];
  await run('npm', words, { cwd: folder });
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const server = await unpack('proposal-api', join(folder, `proposal-api-${version}.tgz`), join(folder, 'server'));
  const client = await install(clientName, join(checkout, `dist/client/${version}.tgz`), join(folder, 'client'));
  const alone = join(folder, 'alone');
  for (const part of ['package.json', 'dist']) await cp(join(checkout, part), join(alone, part), { recursive: true });
  return { server, client, built: join(alone, 'dist'), remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Unpacks the files and links the dependencies of this checkout: installing them would take too long. */
async function unpack(name: string, tarball: string, project: string): Promise<Packed> {
  const installed = join(project, 'node_modules', name);
  await mkdir(installed, { recursive: true });
  await run('tar', ['--extract', '--strip-components=1', '--file', tarball, '--directory', installed]);
  const { dependencies } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
  for (const dependency of Object.keys(dependencies)) {
    const place = join(project, 'node_modules', dependency);
    await mkdir(dirname(place), { recursive: true });
    await symlink(join(root, 'node_modules', dependency), place);
  }
  return { name, tarball, files: await filesIn(tarball), project, installed };
}

/** Installs with npm, which needs no network: the package has no dependencies. */
export async function install(name: string, tarball: string, project: string): Promise<Packed> {
  await mkdir(project, { recursive: true });
  await writeFile(join(project, 'package.json'), '{ "private": true }\n');
  await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', tarball], { cwd: project });
  return {
    name,
    tarball,
    files: tarball.includes(':') ? [] : await filesIn(tarball),
    project,
    installed: join(project, 'node_modules', name),
  };
}

async function filesIn(tarball: string): Promise<string[]> {
  const { stdout } = await run('tar', ['--list', '--file', tarball]);
  return stdout
    .trim()
    .split('\n')
    .map((path) => path.replace(/^package\//, ''));
}
