/** The only role that can connect to the embedded PostgreSQL: it owns the service's database, and is not a superuser. */
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import { changeOwner, lstatIfAny, run, runningAs, SELF, SPAWN_OPTIONS } from './account.ts';
import type { Account } from './account.ts';

export const ROLE = 'proposal_api';
export const DATABASE = 'app';

/** Not even the superuser can connect. */
const ACCESS = `local all ${ROLE} scram-sha-256\n`;

type Cluster = { binaries: string; cluster: string; account: Account };

/** Creates the role and its database in a new cluster, which no server uses yet. */
export async function createRole(target: Cluster, password: string, further: readonly string[]): Promise<void> {
  const { binaries, cluster, account } = target;
  const statements = [
    `CREATE ROLE ${ROLE} LOGIN PASSWORD '${password}'`,
    `CREATE DATABASE ${DATABASE} OWNER ${ROLE}`,
    ...further,
  ];
  // An error must not repeat the statement, which contains the password.
  const settings = ['exit_on_error=on', 'log_min_error_statement=panic'].flatMap((setting) => ['-c', setting]);
  const running = run(join(binaries, 'postgres'), ['--single', '-D', cluster, ...settings, 'postgres'], {
    ...SPAWN_OPTIONS,
    ...runningAs(account),
  });
  // If it ends early, its exit code says so.
  running.child.stdin?.on('error', () => undefined).end(statements.map((statement) => `${statement};\n`).join(''));
  await running;
  await fs.writeFile(join(cluster, 'pg_hba.conf'), ACCESS);
}

/** Writes a new random password in the format of psql's `passfile`. */
export async function writePassword(file: string, account: Account): Promise<string> {
  const password = randomBytes(32).toString('hex');
  await fs.rm(file, { force: true });
  await fs.writeFile(file, `*:*:*:${ROLE}:${password}\n`, { mode: 0o600, flag: 'wx', flush: true });
  await changeOwner(account, file);
  return password;
}

export async function readPassword(file: string, { cluster, account }: Omit<Cluster, 'binaries'>): Promise<string> {
  const found = await lstatIfAny(file);
  if (!found) {
    throw new Error(
      `The password of the database in ${cluster} is missing: restore ${file}, or set DATA_DIR to a new folder.`,
    );
  }
  if (!found.isFile() || ![account.uid, SELF.uid].includes(found.uid) || (found.mode & 0o077) !== 0) {
    throw new Error(`${file} must be a file that only its owner, the account of the database, can read: chmod 600.`);
  }
  const [, password] = /:([0-9a-f]{64})\n$/.exec(await fs.readFile(file, 'utf8')) ?? [];
  if (password === undefined) throw new Error(`${file} does not contain a password: restore it.`);
  return password;
}
