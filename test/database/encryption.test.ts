/** Encrypted connections to the database. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import pg from 'pg';
import { beforeAll, expect, inject, test } from 'vitest';
import { certificates } from '../certificates.ts';
import { runCommand } from '../command.ts';
import { cleanupsAfterAll } from '../database.ts';
import { listen } from '../ports.ts';

type Name = keyof typeof certificates;

const cleanups = cleanupsAfterAll();
const servers = new Map<Name, { port: number; file: string }>();
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'proposal-api-certificates-'));
  cleanups.push(() => rm(folder, { recursive: true }));
  for (const name of Object.keys(certificates) as Name[]) {
    const file = join(folder, `${name}.pem`);
    await writeFile(file, certificates[name]);
    servers.set(name, { port: await listenEncrypted(certificates[name]), file });
  }
});

/** Encrypts connections to the PostgreSQL of the tests. */
async function listenEncrypted(pem: string): Promise<number> {
  const { host, port } = new pg.Client({ connectionString: inject('databaseUrl') });
  const target = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
  const server = createServer((plain) => {
    // What arrives first asks for encryption; 'S' agrees.
    plain.once('data', () => {
      plain.write('S');
      const near: Socket = new TLSSocket(plain, { isServer: true, key: pem, cert: pem });
      const far = connect(target);
      near.on('error', () => far.destroy());
      near.pipe(far).pipe(near);
    });
  });
  cleanups.push(() => void server.close());
  return listen(server);
}

const mismatch = "Hostname/IP does not match certificate's altnames:";
const untrusted = 'self-signed certificate';

test.each<{ host: Name; of: Name; mode: string; trusts?: false; why?: string }>([
  { host: '127.0.0.1', of: '127.0.0.1', mode: 'verify-full' },
  { host: 'localhost', of: 'localhost', mode: 'verify-full' },
  { host: '127.0.0.1', of: 'localhost', mode: 'verify-full', why: mismatch },
  { host: 'localhost', of: '127.0.0.1', mode: 'verify-full', why: mismatch },
  { host: '127.0.0.1', of: 'localhost', mode: 'require', why: mismatch },
  { host: '127.0.0.1', of: '127.0.0.1', mode: 'verify-full', trusts: false, why: untrusted },
  { host: '127.0.0.1', of: 'localhost', mode: 'no-verify', trusts: false },
])('checks the certificate of a database: $host, with that of $of and $mode', async (which) => {
  const { host, of, mode, trusts = true, why } = which;
  const { port = 0, file = '' } = servers.get(of) ?? {};
  const { user, password, database } = new pg.Client({ connectionString: inject('databaseUrl') });
  const url = new URL(`postgresql://${host}:${port}/${database}?sslmode=${mode}`);
  Object.assign(url, { username: user, password: password ?? '' });
  if (trusts) url.searchParams.set('sslrootcert', file);
  const { status, err } = await runCommand(['organizations', 'list'], { DATABASE_URL: url.href });
  expect({ status, err }).toEqual(
    why === undefined
      ? { status: 0, err: '' }
      : { status: 1, err: expect.stringContaining(`The database at DATABASE_URL cannot be used: ${why}`) },
  );
});
