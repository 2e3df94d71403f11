/** A PgBouncer for the tests, in transaction mode in front of a PostgreSQL. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, statSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../ports.ts';

const program = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer'].find((path) =>
  existsSync(path),
);

export const hasPgBouncer = program !== undefined;
export const pgBouncerIsMissing = 'PgBouncer is not installed: skipping its tests.';

/** Whether it supports prepared statements, as it does since 1.21. */
export const prepares = (() => {
  const [, major = 0, minor = 0] = /PgBouncer (\d+)\.(\d+)/.exec(version()) ?? [];
  return Number(major) > 1 || Number(minor) >= 21;
})();

export function version(): string {
  return program === undefined
    ? ''
    : (spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout.split('\n')[0] ?? '');
}

/** Few connections to PostgreSQL, so successive transactions of a test run on different ones. */
const serverConnections = 3;

export async function startPgBouncer(
  databaseUrl: string,
  further: readonly string[] = [],
): Promise<{ url: string; close(): Promise<void> }> {
  const { host, port, user, password, database } = new pg.Client({ connectionString: databaseUrl });
  const folder = await mkdtemp(join(tmpdir(), 'proposal-api-pgbouncer-'));
  const listenPort = await freePort();
  const settings = [
    '[databases]',
    `app = host=${host} port=${port} user=${user} dbname=${database}${password ? ` password=${password}` : ''}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${listenPort}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    // Uses the connection that was idle longest, so the statements of one client run on all of them.
    'server_round_robin = 1',
    `default_pool_size = ${serverConnections}`,
    ...(prepares ? ['max_prepared_statements = 400'] : []),
    ...further,
  ];
  await writeFile(join(folder, 'pgbouncer.ini'), `${settings.join('\n')}\n`);
  // It refuses to run as root, and PostgreSQL's socket folder may be accessible only to PostgreSQL's account.
  const isRoot = process.getuid?.() === 0;
  const account = isRoot ? statSync(host.startsWith('/') ? host : '/var/lib/postgresql') : undefined;
  if (account) for (const path of [folder, join(folder, 'pgbouncer.ini')]) chownSync(path, account.uid, account.gid);
  const child = spawn(program ?? '', [join(folder, 'pgbouncer.ini')], {
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(account && { uid: account.uid, gid: account.gid }),
  });
  let said = '';
  for await (const chunk of child.stderr.iterator({ destroyOnReturn: false })) {
    said += String(chunk);
    if (/process up/.test(said)) break;
  }
  if (child.exitCode !== null) throw new Error(`PgBouncer ended: ${said}`);
  child.stderr.resume();
  const url = `postgresql://${user}@127.0.0.1:${listenPort}/app`;
  return {
    url,
    async close() {
      child.kill('SIGINT');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
