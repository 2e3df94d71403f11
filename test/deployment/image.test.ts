/**
 * Builds the image of the Dockerfile with Buildah, on a base made here (Debian with this Node and npm), and starts it under
 * its own account, migrates, calls and stops it. Requires root.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { copyFile, cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { openLink } from '../faults/link.ts';
import { cleanupsAfterAll, ownDatabase } from '../database.ts';
import { freePort } from '../ports.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const dockerfile = join(root, 'server/deployment/Dockerfile');
const run = promisify(execFile);
const programs = { buildah: '/usr/bin/buildah', debootstrap: '/usr/sbin/debootstrap' };
const canBuild = process.getuid?.() === 0 && Object.values(programs).every((path) => existsSync(path));
if (!canBuild)
  process.stdout.write('buildah and debootstrap are not installed, or this is not root: no image is built.\n');

const cleanups = cleanupsAfterAll();
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proposal-api-image-'));
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
});

const storage = () => ['--root', join(folder, 'root'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs'];
const buildah = async (...words: string[]) =>
  (await run(programs.buildah, [...storage(), ...words], { maxBuffer: 2 ** 26 })).stdout.trim();
const npm = async (...words: string[]) => (await run('npm', words)).stdout.trim();

/** Creates what `FROM node:24-slim` resolves to: Debian with Node, npm and the account `node`. */
async function makeBase(skip: (note: string) => void): Promise<void> {
  const container = await buildah('from', 'scratch');
  const base = await buildah('mount', container);
  const options = { maxBuffer: 2 ** 26, timeout: 240_000 };
  const debootstrap = run(programs.debootstrap, ['--variant=minbase', 'bookworm', base], options);
  await debootstrap.catch((error: unknown) => skip(`Debian cannot be installed into a folder: ${String(error)}`));
  await copyFile(process.execPath, join(base, 'usr/local/bin/node'));
  const modules = join(base, 'usr/local/lib/node_modules');
  const { stdout } = await run('sh', ['-c', 'realpath "$(command -v npm)"']);
  await cp(join(stdout.trim(), '../..'), join(modules, 'npm'), { recursive: true });
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(base, 'usr/local/bin/npm'));
  await run('chroot', [base, 'useradd', '--uid', '1000', '--create-home', 'node']);
  await buildah('umount', container);
  await buildah('commit', '--rm', '--disable-compression', container, 'docker.io/library/node:24-slim');
}

/** Builds with the registry and cache of the local npm. */
async function buildImage(): Promise<void> {
  const npmrc = join(folder, 'npmrc');
  const certificates = await npm('config', 'get', 'cafile');
  const settings = { registry: await npm('config', 'get', 'registry'), 'prefer-offline': 'true' };
  const volumes = [`${await npm('config', 'get', 'cache')}:/root/.npm`, `${npmrc}:/root/.npmrc:ro`];
  if (existsSync(certificates)) {
    Object.assign(settings, { cafile: certificates });
    volumes.push(`${certificates}:${certificates}:ro`);
  }
  await writeFile(
    npmrc,
    Object.entries(settings)
      .map((pair) => pair.join('='))
      .join('\n'),
  );
  const options = ['--isolation', 'chroot', '--pull-never', '--format', 'docker', '--file', dockerfile];
  await buildah('build', ...options, ...volumes.flatMap((volume) => ['--volume', volume]), '--tag', 'service', root);
}

/** The URL of a new database, over TCP. */
async function database(): Promise<string> {
  const { url, drop } = await ownDatabase();
  const address = new URL(url);
  const { hostname: host, port } = address;
  const socket = address.searchParams.get('host');
  const link = await openLink(socket ? { path: join(socket, `.s.PGSQL.${port}`) } : { host, port: Number(port) });
  cleanups.push(drop, () => link.close());
  address.searchParams.delete('host');
  address.host = `127.0.0.1:${link.port}`;
  return address.href;
}

test.runIf(canBuild)(
  'the image is built, migrates its database, serves and stops',
  async ({ skip }) => {
    await makeBase(skip);
    await buildImage();
    const { config } = JSON.parse(await buildah('inspect', '--type', 'image', 'service')).Docker;
    const port = await freePort();
    const variables = { DATABASE_URL: await database(), PORT: String(port) };
    const env = Object.entries(variables).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
    const container = await buildah('from', '--pull-never', 'service');
    const inside = ['run', '--isolation', 'chroot', ...env, container, '--'];
    const program = async (...words: string[]) => buildah(...inside, 'node', 'dist/server/main.js', ...words);

    expect(await buildah(...inside, 'id', '--user', '--name')).toBe('node');
    expect(await program('migrate')).toMatch(/^Applied: /);
    await program('organizations', 'create', '--name', 'Acme', '--slug', 'acme', '--plan', 'team');
    const ann = ['--email', 'ann@acme.example', '--name', 'Ann', '--role', 'admin'];
    await program('members', 'add', '--organization', 'acme', ...ann);
    const of = ['--organization', 'acme', '--by', 'ann@acme.example', '--name', 'k'];
    const key = (await program('keys', 'create', ...of)).split('\n').at(-1);

    // A process has the same id inside and outside.
    const command = ['sh', '-c', 'echo "process $$"; exec "$@"', 'sh', ...config.Cmd];
    const service = spawn(programs.buildah, [...storage(), ...inside, ...command], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [service.stdout, service.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
    cleanups.push(() => service.kill('SIGKILL'));
    while (!output.includes('Serving ')) {
      if (service.exitCode !== null) throw new Error(`It ended: ${output}`);
      await Promise.race([once(service.stdout, 'data'), once(service, 'exit')]);
    }
    const [, number] = /process (\d+)/.exec(output) ?? [];

    const url = `http://127.0.0.1:${port}`;
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ name: 'Ann' });
    const created = await fetch(`${url}/v1/customers`, { method: 'POST', headers, body });
    expect(await created.json()).toMatchObject({ name: 'Ann', status: 'active' });
    for (const path of ['/readyz', '/docs/operating', '/docs/changelog', '/openapi.json', '/client.tgz'])
      expect([path, (await fetch(url + path)).status]).toEqual([path, 200]);
    await buildah(...inside, 'sh', '-c', config.Healthcheck.Test.at(-1).replace('3000', port));

    process.kill(Number(number), 'SIGTERM');
    const [status] = await once(service, 'exit');
    expect(status).toBe(0);
  },
  600_000,
);
