/** The server process of an embedded cluster: finding, starting and stopping it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { changeOwner, run, runningAs, SPAWN_OPTIONS } from './account.ts';
import { findBinaries } from './binaries.ts';
import { privateFolder, requirePrivate } from './files.ts';
import type { Place } from './files.ts';

export type Opening = {
  place: Place;
  report: (line: string) => void;
  settings: Record<string, string>;
  /** Statements that the superuser runs in a new cluster. */
  statements: readonly string[];
  /** The server, if this process started it. */
  child?: ChildProcess;
};
export type Server = { pid: number; socketFolder: string; status: string };

export const PORT = 5432;
/** Long, for a busy machine: a server that cannot start exits immediately. */
export const START_TIMEOUT_MS = 120_000;
const LOG_LIMIT_BYTES = 10_000_000;
const STOP_TIMEOUT_MS = 30_000;
const SETTINGS = {
  listen_addresses: '',
  port: String(PORT),
  max_connections: '300',
  shared_buffers: '128MB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // The service logs failed statements itself; logging them here too would grow this log without limit.
  log_min_messages: 'log',
  log_checkpoints: 'off',
};

export async function stopServer({ place: { cluster }, child }: Opening): Promise<boolean> {
  const server = await findServer(cluster);
  // Without its files, the server cannot be found, but it also has nothing left to save.
  if (!server && child?.exitCode === null) child.kill('SIGQUIT');
  if (server) process.kill(server.pid, 'SIGINT');
  const deadline = performance.now() + STOP_TIMEOUT_MS;
  while (server && (await findServer(cluster))?.pid === server.pid) {
    if (performance.now() > deadline) return false;
    await delay(5);
  }
  return true;
}

/** The server that runs on this cluster, even if a killed process left it. The pid alone may have been reused. */
export async function findServer(cluster: string): Promise<Server | undefined> {
  const text = await fs.readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '');
  const [pid = '', , , , socketFolder = '', , , status = ''] = text.split('\n');
  if (!/^\d+$/.test(pid)) return undefined;
  const command =
    process.platform === 'linux'
      ? await fs.readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      : await run('ps', ['-ww', '-o', 'command=', '-p', pid]).then(
          ({ stdout }) => stdout,
          () => '',
        );
  const isOurs = command.replaceAll('\0', ' ').includes(`-D ${cluster} -k`);
  return isOurs ? { pid: Number(pid), socketFolder, status: status.trim() } : undefined;
}

/** Undefined if remains of a killed server still prevent the start. */
export async function startServer(opening: Opening, socket?: string): Promise<Server | undefined> {
  const { cluster, account, logFile } = opening.place;
  await requirePrivate(cluster, account);
  const binaries = await findBinaries(account, dirname(cluster));
  const socketFolder = await privateFolder(socket ?? (await socketName(opening.place)), account);
  await disownStalePid(opening.place, socketFolder);
  const log = await openLog(logFile);
  await changeOwner(account, logFile);
  const logStart = (await log.stat()).size;
  const settings = Object.entries({ ...SETTINGS, ...opening.settings }).map(([name, value]) => `--${name}=${value}`);
  const child = spawn(join(binaries, 'postgres'), ['-D', cluster, '-k', socketFolder, ...settings], {
    ...SPAWN_OPTIONS,
    ...runningAs(account),
    // Its own process group: Ctrl-C in a terminal must not stop it before we are done.
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
  });
  let failure = '';
  child.once('error', ({ message }) => (failure = message));
  child.unref();
  opening.child = child;
  await log.close();
  if (await isRunning(child, cluster)) return await findServer(cluster);
  const logged = await endOfLog(logFile, logStart, incidental);
  if (/already exists|is empty|still in use/.test(logged)) return undefined;
  const [, version] = /initialized by PostgreSQL version (\d+)/.exec(logged) ?? [];
  if (version !== undefined) throw new Error(ofOtherVersion(cluster, version));
  throw new Error(`PostgreSQL does not start in ${cluster}: ${failure}${logged}`);
}

const ofOtherVersion = (cluster: string, version: string): string =>
  `The database in ${cluster} is from PostgreSQL ${version}, but this release has a different version: run \`backup\` ` +
  'with the release that used it, and then, with a new DATA_DIR, `restore` with this one.';

/** Waits until the server accepts connections, ends, or continues a long recovery in the background. */
async function isRunning(child: ChildProcess, cluster: string): Promise<boolean> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    const found = await findServer(cluster);
    if (found?.pid === child.pid && found.status === 'ready') return true;
    if (performance.now() > deadline) return true;
    await delay(5);
  }
  return false;
}

/**
 * PostgreSQL mistakes any running process with the pid in its lock file for its predecessor, except its parent: us.
 * The rest of the file stays, since it identifies processes of a killed server that are still writing.
 */
async function disownStalePid({ cluster, account }: Place, socketFolder: string): Promise<void> {
  await fs.rm(join(socketFolder, `.s.PGSQL.${PORT}.lock`), { force: true });
  const file = join(cluster, 'postmaster.pid');
  const text = await fs.readFile(file, 'utf8').catch(() => '');
  if (!/^-?\d/.test(text)) return await fs.rm(file, { force: true });
  await fs.writeFile(file, text.replace(/^-?\d+/, String(process.pid)));
  await changeOwner(account, file);
}

async function openLog(path: string): Promise<fs.FileHandle> {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = fs.constants;
  const log = await fs.open(path, O_APPEND | O_CREAT | O_NOFOLLOW | O_WRONLY, 0o600);
  if ((await log.stat()).size > LOG_LIMIT_BYTES) await log.truncate();
  return log;
}

/** What a server does, and responds to clients, while it does not start: there may be more of it than of the reason. */
const incidental = / LOG:  | FATAL:  the database system is | DETAIL:  Consistent recovery state /;

export async function endOfLog(path: string, start = 0, except?: RegExp): Promise<string> {
  const text = (await fs.readFile(path).catch(() => Buffer.alloc(0))).subarray(start).toString();
  const lines = text.trim().split('\n');
  const others = lines.filter((line) => !except?.test(line));
  return (others.length > 0 ? others : lines).slice(-5).join('\n');
}

/** Different for a new cluster in the same place: a server of the deleted one may still run, and unlinks its socket. */
async function socketName({ cluster, account }: Place): Promise<string> {
  const { birthtimeMs } = await fs.stat(cluster);
  return `proposal-api-${hash('sha256', `${account.uid} ${cluster} ${birthtimeMs}`, 'hex').slice(0, 16)}`;
}

export function oneLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text
    .replace(/^Command failed: .*\n/, '')
    .trim()
    .replaceAll(/(?<!\s)\s*\n\s*/g, '; ');
}
