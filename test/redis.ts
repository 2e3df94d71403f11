/** A separate Redis for a test, which may freeze and kill it; if none is installed, these tests are skipped. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { tmpdir } from 'node:os';
import { freePort } from './ports.ts';

const program = ['redis-server', 'valkey-server'].flatMap(installed)[0];

export const hasRedis = program !== undefined;
export const redisIsMissing = 'No redis-server is installed: skipping the tests of the shared rate limit.';

export type Redis = { url: string; process(): ChildProcess; kill(): Promise<void>; start(): Promise<void> };

export async function startRedis(): Promise<Redis> {
  const port = await freePort();
  let child: ChildProcess | undefined;
  const start = async () => {
    // `--save ''`: nothing on disk.
    const words = [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--appendonly',
      'no',
      '--dir',
      tmpdir(),
    ];
    const started = spawn(program ?? '', words, { stdio: ['ignore', 'pipe', 'inherit'] });
    child = started;
    let said = '';
    for await (const chunk of started.stdout) {
      said += String(chunk);
      if (/Ready to accept connections/.test(said)) break;
    }
  };
  const running = (): ChildProcess => {
    if (!child) throw new Error('Redis was not started.');
    return child;
  };
  const kill = async () => {
    const killed = running();
    if (killed.exitCode !== null || killed.signalCode !== null) return;
    killed.kill('SIGKILL');
    await once(killed, 'exit');
  };
  await start();
  return { url: `redis://127.0.0.1:${port}`, process: running, kill, start };
}

function installed(name: string): string[] {
  const paths = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name));
  return paths.filter((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
