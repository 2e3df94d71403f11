/**
 * The PostgreSQL that comes with the service. Every process that uses it keeps one connection with a shared lock;
 * whoever leaves and then gets that lock alone is the last, and stops the server while newcomers wait for the lock.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { findBinaries, giveTo, holdingLock, preparePlace, privateFolder, runningAs } from './postgres-files.ts';
import type { Place } from './postgres-files.ts';

export type EmbeddedPostgres = {
  /** How pg and MikroORM reach it: the host is the folder of a Unix socket. */
  connection: { host: string; port: number; user: string; database: string };
  /** The same for people and psql. */
  url: string;
  /** Whether this call made the cluster. */
  created: boolean;
  /** Leaves the database, and stops it where nobody else uses it. Close your own connections first. */
  close(): Promise<void>;
};

type Options = {
  dataDir: string;
  onProgress?: (line: string) => void;
  /** PostgreSQL settings for when this call starts the server; a running one keeps its own. */
  settings?: Record<string, string>;
};
type Opening = { place: Place; report: (line: string) => void; settings: Record<string, string> };
type Server = { pid: number; socketFolder: string; status: string };
type Presence = { client: Client; ended: Promise<void>; socketFolder: string; created: boolean };

const PORT = 5432;
const USER = 'postgres';
const DATABASE = 'app';
const PRESENCE_LOCK = 7_767_310;
const START_TIMEOUT_MS = 30_000;
const RESTART_DELAYS_MS = [0, 200, 1_000, 5_000, 15_000];
/** What a server that is starting, stopping or crashing answers, or its socket, or the wait for a lock in it. */
const PASSING = new Set(['57P01', '57P02', '57P03', '55P03', '53300', 'ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE']);
/** How pg, rather than the server, puts the same: without a code. */
const LOST = /^(Connection terminated|Client has encountered a connection error|Client was closed)/;
const DATABASE_EXISTS = new Set(['42P04', '23505']);

export async function openEmbeddedPostgres(options: Options): Promise<EmbeddedPostgres> {
  const { dataDir, onProgress: report = () => undefined, settings = {} } = options;
  const opening: Opening = { place: await preparePlace(dataDir, report), report, settings };
  const presence = await enter(opening);
  const { socketFolder, created } = presence;
  return {
    connection: { host: socketFolder, port: PORT, user: USER, database: DATABASE },
    // The host before the path is for URL parsers that want one; the parameter wins.
    url: `postgresql://${USER}@localhost:${PORT}/${DATABASE}?host=${encodeURIComponent(socketFolder)}`,
    created,
    close: stayIn(opening, presence),
  };
}

/** Starts the server again when it was killed, at the same socket, so that pools recover; returns how to leave. */
function stayIn(opening: Opening, first: Presence): () => Promise<void> {
  let closed: Promise<void> | undefined;
  let current: Promise<Presence | undefined> = Promise.resolve(first);
  const watch = (presence: Presence | undefined): void => {
    void presence?.ended.then(() => {
      if (closed) return;
      current = enterAgain(opening, first.socketFolder, () => closed !== undefined);
      void current.then(watch);
    });
  };
  watch(first);
  return () => (closed ??= current.then((presence) => presence && leave(opening, presence)));
}

async function enterAgain(
  opening: Opening,
  socketFolder: string,
  isClosed: () => boolean,
): Promise<Presence | undefined> {
  opening.report('The database stopped unexpectedly. Starting it again…');
  for (const pauseMs of RESTART_DELAYS_MS) {
    await delay(pauseMs);
    if (isClosed()) return undefined;
    try {
      const presence = await enter(opening, socketFolder);
      opening.report('The database is back.');
      return presence;
    } catch (error) {
      opening.report(`The database does not start: ${oneLine(error)}`);
    }
  }
  opening.report('Gave up on the database: restart this process once the cause is gone.');
  return undefined;
}

/** `formerSocket` is for coming back: then a cluster that is gone is an error, and not made anew. */
async function enter(opening: Opening, formerSocket?: string): Promise<Presence> {
  const { cluster, lockFile, logFile } = opening.place;
  const deadline = Date.now() + START_TIMEOUT_MS;
  let created = false;
  while (Date.now() < deadline) {
    const server = await holdingLock(lockFile, async () => {
      if (formerSocket === undefined) created = (await createCluster(opening)) || created;
      return (await findServer(cluster)) ?? (await startServer(opening, formerSocket ?? socketName(opening.place)));
    });
    const connected = server && (await connectPresence(server.socketFolder));
    if (connected) return { ...connected, socketFolder: server.socketFolder, created };
    await delay(10);
  }
  throw new Error(`PostgreSQL in ${cluster} does not answer. The end of ${logFile}:\n${await endOfLog(logFile)}`);
}

/** Undefined where the server is starting or stopping. */
async function connectPresence(host: string): Promise<Pick<Presence, 'client' | 'ended'> | undefined> {
  if (host === '') return undefined;
  const client = new Client({ host, port: PORT, user: USER, database: 'postgres', lock_timeout: START_TIMEOUT_MS });
  const ended = new Promise<void>((resolve) => client.once('end', () => resolve()));
  client.on('error', () => undefined); // 'end' comes next, and is what matters
  try {
    await client.connect();
    await client.query(`SELECT pg_advisory_lock_shared(${PRESENCE_LOCK})`);
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`).catch(unlessCode(DATABASE_EXISTS));
    return { client, ended };
  } catch (error) {
    void client.end().catch(() => undefined);
    if (error instanceof Error && LOST.test(error.message)) return undefined;
    return unlessCode(PASSING)(error);
  }
}

async function leave({ place, report }: Opening, { client, socketFolder }: Presence): Promise<void> {
  try {
    await client.query(`SELECT pg_advisory_unlock_shared(${PRESENCE_LOCK})`);
    const { rows } = await client.query<{ alone: boolean }>(`SELECT pg_try_advisory_lock(${PRESENCE_LOCK}) AS alone`);
    if (rows[0]?.alone !== true) return;
    if (!(await stopServer(place.cluster))) report('The database is still stopping.');
    // Under the lock, since a newcomer may be about to use the folder; when it already does, the folder is not empty.
    await holdingLock(place.lockFile, () => fs.rmdir(socketFolder)).catch(() => undefined);
  } catch (error) {
    report(`The database was gone before it could be left: ${oneLine(error)}`);
  } finally {
    await client.end().catch(() => undefined);
  }
}

const LOG_LIMIT_BYTES = 10_000_000;
const STOP_TIMEOUT_MS = 30_000;
const SETTINGS = {
  listen_addresses: '',
  port: String(PORT),
  max_connections: '100',
  shared_buffers: '128MB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // The service reports failed statements itself; here they would grow the log without bound.
  log_min_messages: 'log',
  log_checkpoints: 'off',
};

const INITDB = [
  `--username=${USER}`,
  '--auth=trust',
  '--encoding=UTF8',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--no-instructions',
];
/** Nothing of our own environment: PGDATA and its like would count. */
const SURROUNDINGS = { cwd: '/', env: { LC_ALL: 'C' } };

const run = promisify(execFile);

async function stopServer(cluster: string): Promise<boolean> {
  const server = await findServer(cluster);
  if (server) process.kill(server.pid, 'SIGINT');
  const deadline = Date.now() + STOP_TIMEOUT_MS;
  while (server && (await findServer(cluster))?.pid === server.pid) {
    if (Date.now() > deadline) return false;
    await delay(5);
  }
  return true;
}

/** The server that runs on this cluster, even if a killed process left it. The pid alone may be anyone's by now. */
async function findServer(cluster: string): Promise<Server | undefined> {
  const text = await fs.readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '');
  const [pid = '', , , , socketFolder = '', , , status = ''] = text.split('\n');
  if (!/^\d+$/.test(pid)) return undefined;
  const command =
    process.platform === 'linux'
      ? await fs.readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      : await run('ps', ['-ww', '-o', 'command=', '-p', pid]).then(({ stdout }) => stdout, () => '');
  const isOurs = command.replaceAll('\0', ' ').includes(`-D ${cluster} -k`);
  return isOurs ? { pid: Number(pid), socketFolder, status: status.trim() } : undefined;
}

async function createCluster({ place: { cluster, account }, report, settings }: Opening): Promise<boolean> {
  if ((await fs.stat(join(cluster, 'PG_VERSION')).catch(() => undefined)) !== undefined) return false;
  report('Creating the database…');
  const prefix = `${cluster}.new-`;
  for (const name of await fs.readdir(dirname(cluster))) {
    const isLeftover = name.startsWith(basename(prefix));
    if (isLeftover) await fs.rm(join(dirname(cluster), name), { recursive: true, force: true }).catch(() => undefined);
  }
  const initdb = join(await findBinaries(account), 'initdb');
  const fresh = await fs.mkdtemp(prefix);
  try {
    await giveTo(account, fresh);
    const sync = settings.fsync === 'off' ? ['--no-sync'] : [];
    await run(initdb, ['-D', fresh, ...INITDB, ...sync], { ...SURROUNDINGS, ...runningAs(account) });
    await fs.rename(fresh, cluster);
    return true;
  } catch (cause) {
    await fs.rm(fresh, { recursive: true, force: true });
    throw new Error(`Cannot create the database in ${cluster}: ${oneLine(cause)} (or set DATABASE_URL).`, { cause });
  }
}

/** Undefined where remains of a killed server are still in the way. */
async function startServer(opening: Opening, socket: string): Promise<Server | undefined> {
  const { cluster, account, logFile } = opening.place;
  const binaries = await findBinaries(account);
  const socketFolder = await privateFolder(socket, account);
  await disownStalePid(opening.place, socketFolder);
  const log = await openLog(logFile);
  const logStart = (await log.stat()).size;
  const settings = Object.entries({ ...SETTINGS, ...opening.settings }).map(([name, value]) => `--${name}=${value}`);
  const child = spawn(join(binaries, 'postgres'), ['-D', cluster, '-k', socketFolder, ...settings], {
    ...SURROUNDINGS,
    ...runningAs(account),
    // Its own process group: Ctrl-C in a terminal must not stop it before we are done.
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
  });
  let failure = '';
  child.once('error', ({ message }) => (failure = message));
  child.unref();
  await log.close();
  if (await isRunning(child, cluster)) return await findServer(cluster);
  const said = await endOfLog(logFile, logStart);
  if (/already exists|is empty|still in use/.test(said)) return undefined;
  throw new Error(`PostgreSQL does not start in ${cluster}: ${failure}${said}`);
}

/** Waits for the server to accept connections, or to end, or to go on in the background with a long recovery. */
async function isRunning(child: ChildProcess, cluster: string): Promise<boolean> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    const found = await findServer(cluster);
    if (found?.pid === child.pid && found.status === 'ready') return true;
    if (Date.now() > deadline) return true;
    await delay(5);
  }
  return false;
}

/**
 * PostgreSQL takes any living process with the pid in its lock file for its predecessor, except its own parent: us.
 * The rest of the file stays, since it leads to processes of a killed server that are still writing.
 */
async function disownStalePid({ cluster, account }: Place, socketFolder: string): Promise<void> {
  await fs.rm(join(socketFolder, `.s.PGSQL.${PORT}.lock`), { force: true });
  const file = join(cluster, 'postmaster.pid');
  const text = await fs.readFile(file, 'utf8').catch(() => '');
  if (!/^-?\d/.test(text)) return await fs.rm(file, { force: true });
  await fs.writeFile(file, text.replace(/^-?\d+/, String(process.pid)));
  await giveTo(account, file);
}

async function openLog(path: string): Promise<fs.FileHandle> {
  const log = await fs.open(path, 'a', 0o600);
  if ((await log.stat()).size > LOG_LIMIT_BYTES) await log.truncate();
  return log;
}

async function endOfLog(path: string, start = 0): Promise<string> {
  const text = (await fs.readFile(path).catch(() => Buffer.alloc(0))).subarray(start).toString();
  return text.trim().split('\n').slice(-5).join('\n');
}

function socketName({ cluster, account }: Place): string {
  const digest = createHash('sha256').update(`${account.uid} ${cluster}`).digest('hex');
  return `proposal-api-${digest.slice(0, 16)}`;
}

function oneLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/^Command failed: .*\n/, '').trim().replaceAll(/\s*\n\s*/g, '; ');
}

/** For catch(): lets everything else rise. */
function unlessCode(codes: ReadonlySet<string>): (error: unknown) => undefined {
  return (error) => {
    if (error instanceof Error && 'code' in error && codes.has(String(error.code))) return;
    throw error;
  };
}
