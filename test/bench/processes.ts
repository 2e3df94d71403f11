/** Servers under measurement: separate processes, whose CPU time and memory come from Linux. */
import { spawn } from 'node:child_process';
import { existsSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';

/** As `npm start` and `npx proposal-api` run it: with all code in its cache, Node does not load its TypeScript compiler. */
export const program = fileURLToPath(new URL('../../server/proposal-api.js', import.meta.url));

export type Server = { port: number; pid: number; stop(): Promise<void> };

/** Starts a server that prints `Serving http://host:port/…`; what it logs is written to `logFile`. */
export async function startServer(
  words: string[],
  env: Record<string, string>,
  logFile: string,
  flags: string[] = [],
): Promise<Server> {
  const child = spawn(process.execPath, [...flags, ...words], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', openSync(logFile, 'w')],
  });
  const { stdout } = child;
  if (!stdout) throw new Error('A pipe was expected.');
  const ended = once(child, 'exit');
  for await (const line of createInterface(stdout)) {
    const port = /^Serving \S+:(\d+)/.exec(line)?.[1];
    if (port === undefined) continue;
    stdout.resume();
    const stop = async () => {
      child.kill('SIGTERM');
      await ended;
    };
    return { port: Number(port), pid: child.pid ?? 0, stop };
  }
  throw new Error(`${words.join(' ')} did not start: ${readFileSync(logFile, 'utf8').slice(-2000)}`);
}

/** Clock ticks per second of /proc, on every Linux that Node runs on. */
const ticks = 100;

/** The fields of /proc/<pid>/stat after the name, which is in parentheses. */
const statOf = (pid: number | string): string[] => {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  } catch {
    return [];
  }
};

/** CPU seconds of a process and of its children, living and ended. */
export function cpuSeconds(pid: number): number {
  const own = (fields: string[], from: number, to: number) =>
    fields.slice(from, to).reduce((sum, field) => sum + Number(field), 0);
  // Its own user and system time, and that of children that it has waited for.
  let total = own(statOf(pid), 11, 15);
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const fields = statOf(name);
    if (Number(fields[1]) === pid) total += own(fields, 11, 13);
  }
  return total / ticks;
}

export function rssMiB(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(line) / 1024;
}

/** The process of the PostgreSQL server itself, whose children do the work; it has to run on this machine. */
export async function postmasterPid(pool: Pick<pg.Pool, 'query'>): Promise<number> {
  const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid');
  const parent = Number(statOf(rows[0]?.pid ?? 0)[1]);
  if (!Number.isInteger(parent))
    throw new Error('PostgreSQL must run on this machine, and the machine must run Linux.');
  return parent;
}

/** A command's CPU time, peak memory, and time to the first byte of output. */
export type Ran = { seconds: number; ownSeconds: number; peakMiB: number; firstByteMs: number };

/** Runs a command, discards its output, and watches its memory. */
export async function runWatched(words: string[], env: Record<string, string>): Promise<Ran> {
  const startedAt = performance.now();
  const elapsedMs = () => performance.now() - startedAt;
  const child = spawn(process.execPath, words, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ran: Ran = { seconds: 0, ownSeconds: 0, peakMiB: 0, firstByteMs: Number.NaN };
  child.stdout.once('data', () => (ran.firstByteMs = elapsedMs())).resume();
  const ended = once(child, 'close').then(() => (ran.seconds = elapsedMs() / 1000));
  while (child.exitCode === null && child.signalCode === null) {
    const pid = child.pid ?? 0;
    const status = existsSync(`/proc/${pid}/status`) ? readFileSync(`/proc/${pid}/status`, 'utf8') : '';
    ran.peakMiB = Math.max(ran.peakMiB, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
    ran.ownSeconds = Math.max(ran.ownSeconds, cpuSeconds(pid));
    await Promise.race([wait(100), ended]);
  }
  await ended;
  if (child.exitCode !== 0) throw new Error(`${words.join(' ')} ended with ${child.exitCode ?? child.signalCode}.`);
  return ran;
}
