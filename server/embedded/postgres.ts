/**
 * The PostgreSQL that comes with the service. Every process that uses it keeps one connection with a shared lock;
 * a process that releases it and can then lock exclusively is the last one: it stops the server while others wait.
 */
import * as fs from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, DatabaseError } from 'pg';
import { ignoring } from './account.ts';
import { ensureCluster } from './cluster.ts';
import { holdingLock, preparePlace } from './files.ts';
import { DATABASE, readPassword, ROLE } from './role.ts';
import { endOfLog, findServer, oneLine, PORT, START_TIMEOUT_MS, startServer, stopServer } from './server.ts';
import type { Place } from './files.ts';
import type { Opening } from './server.ts';

export type EmbeddedPostgres = {
  /** Connection options for pg: the host is the folder of a Unix socket. */
  connection: { host: string; port: number; user: string; password: string; database: string };
  /** The same as a URL, for programs. */
  url: string;
  /** The URL for people and psql, with the path of the password file instead of the password. */
  displayUrl: string;
  /** Releases the database, and stops it if no other process uses it. Close your own connections first. */
  close(): Promise<void>;
};

type Options = {
  dataDir: string;
  onProgress?: (line: string) => void;
  /** PostgreSQL settings for when this call starts the server; a running one keeps its own. */
  settings?: Record<string, string>;
  /** Statements that the superuser runs if this call creates the cluster. */
  statements?: readonly string[];
};
type Presence = {
  client: Client;
  ended: Promise<void>;
  connection: EmbeddedPostgres['connection'];
};

const PRESENCE_LOCK = 7_767_310;
/** A server that is starting or busy rejects a connection or accepts it sooner; one that is frozen does neither. */
const CONNECT_TIMEOUT_MS = 30_000;
/** A server that is frozen, or whose disk hangs, must not keep a process from exiting. */
const LEAVE_TIMEOUT_MS = 10_000;
/** The pauses between attempts to restart the server; the last one repeats until it runs. */
const RESTART_DELAYS_MS = [0, 200, 1_000, 2_000, 5_000];
/** Error codes of a server that is starting, stopping or crashing, of its socket, or of a wait for a lock. */
const TRANSIENT_ERRORS = ['57P01', '57P02', '57P03', '55P03', '53300', 'ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE'];
/** pg's own messages for the same errors, which have no code. */
const LOST = /^(Connection terminated|Client has encountered a connection error|Client was closed)/;
/** A password that is not this cluster's. */
const WRONG_PASSWORD = '28P01';

export async function openEmbeddedPostgres(options: Options): Promise<EmbeddedPostgres> {
  const { dataDir, onProgress: report = () => undefined, settings = {}, statements = [] } = options;
  const place = await preparePlace(dataDir, report);
  const opening: Opening = { place, report, settings, statements };
  const presence = await joinServer(opening);
  const { connection } = presence;
  return {
    connection,
    url: urlOf(connection),
    displayUrl: `postgresql://${ROLE}@${pathTo(connection)}&passfile=${encodeURIComponent(place.passwordFile)}`,
    close: superviseServer(opening, presence),
  };
}

/** The host before the path is for URL parsers that require one; the parameter takes precedence. */
const pathTo = ({ host }: EmbeddedPostgres['connection']): string =>
  `localhost:${PORT}/${DATABASE}?host=${encodeURIComponent(host)}`;

/** Without TLS, even if PGSSLMODE or PGSSLNEGOTIATION asks for it: they are meant for other servers. */
const urlOf = (connection: EmbeddedPostgres['connection']): string =>
  `postgresql://${ROLE}:${connection.password}@${pathTo(connection)}&sslmode=disable&sslnegotiation=postgres`;

/** Restarts a killed server at the same socket, so that pools recover. Returns a function that leaves the database. */
function superviseServer(opening: Opening, first: Presence): () => Promise<void> {
  // A process that exits without closing stops the server that it started. Others that use the server start it again.
  const stopAtOnce = () => void opening.child?.kill('SIGINT');
  process.once('exit', stopAtOnce);
  let closed: Promise<void> | undefined;
  let current: Promise<Presence | undefined> = Promise.resolve(first);
  const watch = (presence: Presence | undefined): void => {
    void presence?.ended.then(() => {
      if (closed) return;
      current = rejoinServer(opening, first.connection.host, () => closed !== undefined);
      void current.then(watch);
    });
  };
  watch(first);
  const leave = async () => {
    const presence = await current;
    if (presence) await leaveServer(opening, presence);
    process.off('exit', stopAtOnce);
  };
  return () => (closed ??= leave());
}

async function rejoinServer(
  opening: Opening,
  socketFolder: string,
  isClosed: () => boolean,
): Promise<Presence | undefined> {
  opening.report('The database stopped unexpectedly. Starting it again…');
  let lastReason = '';
  for (let attempt = 0; ; attempt += 1) {
    // unref(): waiting for a database that does not start must not keep the process running.
    await delay(RESTART_DELAYS_MS[attempt] ?? RESTART_DELAYS_MS.at(-1), undefined, { ref: false });
    if (isClosed()) return undefined;
    try {
      const presence = await joinServer(opening, socketFolder);
      opening.report('The database is back.');
      return presence;
    } catch (error) {
      const report = `The database does not start; retrying every few seconds: ${oneLine(error)}`;
      // Each new reason is reported once. Without digits, because PostgreSQL's messages begin with the time and its pid.
      const reason = report.replaceAll(/\d+/g, '');
      if (reason !== lastReason) opening.report(report);
      lastReason = reason;
    }
  }
}

/** `formerSocket` is for a restart: a missing cluster is then an error, and is not created again. */
async function joinServer(opening: Opening, formerSocket?: string): Promise<Presence> {
  const { cluster, lockFile, passwordFile } = opening.place;
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < deadline) {
    const server = await holdingLock(lockFile, async () => {
      if (formerSocket === undefined) await ensureCluster(opening);
      const password = await readPassword(passwordFile, opening.place);
      const found = (await findServer(cluster)) ?? (await startServer(opening, formerSocket));
      return found && { host: found.socketFolder, port: PORT, user: ROLE, password, database: DATABASE };
    });
    const connected = server && (await connectPresence(opening.place, server));
    if (connected) return { ...connected, connection: server };
    await delay(10);
  }
  throw await unresponsive(opening.place);
}

/** In one line, because commands print only the first. */
async function unresponsive({ cluster, logFile }: Place, cause?: Error): Promise<Error> {
  const end = oneLine(await endOfLog(logFile));
  return new Error(`PostgreSQL in ${cluster} does not respond. The end of ${logFile}: ${end}`, { cause });
}

/** Undefined if the server is starting or stopping. */
async function connectPresence(
  place: Place,
  connection: EmbeddedPostgres['connection'],
): Promise<Pick<Presence, 'client' | 'ended'> | undefined> {
  const { cluster, passwordFile } = place;
  if (connection.host === '') return undefined;
  const limits = { lock_timeout: START_TIMEOUT_MS, connectionTimeoutMillis: CONNECT_TIMEOUT_MS };
  const client = new Client({ connectionString: urlOf(connection), ...limits });
  const ended = new Promise<void>((resolve) => client.once('end', () => resolve()));
  client.on('error', () => undefined); // 'end' follows, and is handled
  try {
    await client.connect();
    await client.query(`SELECT pg_advisory_lock_shared(${PRESENCE_LOCK})`);
    return { client, ended };
  } catch (error) {
    void client.end().catch(() => undefined);
    if (error instanceof Error && LOST.test(error.message)) return undefined;
    if (error instanceof Error && error.message === 'timeout expired') throw await unresponsive(place, error);
    if (error instanceof DatabaseError && error.code === WRONG_PASSWORD) {
      throw new Error(`${passwordFile} does not contain the password of ${cluster}: restore both together.`, {
        cause: error,
      });
    }
    return ignoring(...TRANSIENT_ERRORS)(error);
  }
}

async function leaveServer(opening: Opening, { client, connection }: Presence): Promise<void> {
  const { place, report } = opening;
  const giveUp = () => client.connection.stream.destroy(new Error('it does not respond.'));
  const timer = setTimeout(giveUp, LEAVE_TIMEOUT_MS);
  try {
    await client.query(`SELECT pg_advisory_unlock_shared(${PRESENCE_LOCK})`);
    const { rows } = await client.query<{ alone: boolean }>(`SELECT pg_try_advisory_lock(${PRESENCE_LOCK}) AS alone`);
    clearTimeout(timer);
    if (rows[0]?.alone !== true) return;
    if (!(await stopServer(opening))) report('The database is still stopping.');
    // Under the lock, since a newcomer may be about to use the folder; when it already does, the folder is not empty.
    await holdingLock(place.lockFile, () => fs.rmdir(connection.host)).catch(() => undefined);
  } catch (error) {
    report(`The database could not be released: ${oneLine(error)}`);
  } finally {
    clearTimeout(timer);
    await client.end().catch(() => undefined);
  }
}
