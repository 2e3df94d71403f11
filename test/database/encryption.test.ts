/** Encrypted connections to the database. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import pg from 'pg';
import { beforeAll, expect, inject, test } from 'vitest';
import { runCommand } from '../command.ts';
import { cleanupsAfterAll } from '../database.ts';
import { listen } from '../ports.ts';

// Valid for 100 years, and used by these tests only.
const certificates = {
  '127.0.0.1': `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgTh/x9KEy23uwsARd
wNDukwYNo0PqkWlebMUpqzUns3ihRANCAATAkU0jMSlkqC7xq5JjEUPIR3EWEnhU
GZ8C94r0BvxI6ZfbIs2peiPDq2NOc0ome55HC7k1O2IatneQW15ymV8L
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBhTCCASygAwIBAgIURWZrT7PywxaigPuDuxO8i9kM7L4wCgYIKoZIzj0EAwIw
DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjgwMTE3MjFaGA8yMTI2MTEwNDAxMTcy
MVowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABMCR
TSMxKWSoLvGrkmMRQ8hHcRYSeFQZnwL3ivQG/Ejpl9sizal6I8OrY05zSiZ7nkcL
uTU7Yhq2d5BbXnKZXwujZDBiMB0GA1UdDgQWBBTZSo+i3AbVGqvGaj96FU+vO2S9
CjAfBgNVHSMEGDAWgBTZSo+i3AbVGqvGaj96FU+vO2S9CjAPBgNVHRMBAf8EBTAD
AQH/MA8GA1UdEQQIMAaHBH8AAAEwCgYIKoZIzj0EAwIDRwAwRAIgEc985DlibgAR
P1uy4KWIXUG5A+sSuaeRTtjBwXYyqX0CIFbSQCZqH5LzpB4lk+XAXXpBCOEh6cN8
EgAQo84Hc5Gy
-----END CERTIFICATE-----
`,
  localhost: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgkGRsVqN2Yt/FV6mJ
vrZ67utTsn/JKInue8YtX70Eg4OhRANCAAT5cOp5tBBa6OGKmzaB3Qq7uFkPRJph
ZWoodgHMHq872Qcdkv8iq2zh5vuQ1vBebldjmOg9JAsOMpNYfJSHnUat
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBizCCATGgAwIBAgIUUiT/HreYes/ypbDdggAlk+cIYaYwCgYIKoZIzj0EAwIw
DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjgwMTE3MjFaGA8yMTI2MTEwNDAxMTcy
MVowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABPlw
6nm0EFro4YqbNoHdCru4WQ9EmmFlaih2AcwerzvZBx2S/yKrbOHm+5DW8F5uV2OY
6D0kCw4yk1h8lIedRq2jaTBnMB0GA1UdDgQWBBTEztmXtrr3Lxe4+B/Rm7HVh4CV
UDAfBgNVHSMEGDAWgBTEztmXtrr3Lxe4+B/Rm7HVh4CVUDAPBgNVHRMBAf8EBTAD
AQH/MBQGA1UdEQQNMAuCCWxvY2FsaG9zdDAKBggqhkjOPQQDAgNIADBFAiA157SJ
ERpb5dYfNjVX42uGMcJ2Hu6ol9ygfoO2HlR5DQIhAJm7Cc8bqQ/5LEI+qFFNq+AB
Pg+qr3SftsXJDKQDlze6
-----END CERTIFICATE-----
`,
};
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
