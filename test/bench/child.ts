/** A server under measurement, as a process of its own: it says where it listens, and what it has cost so far. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import pg from 'pg';

/** CPU of the whole process in microseconds, and statements sent to PostgreSQL, since it began. */
export type Usage = { cpuMicros: number; statements: number };

export type Child = { url: string; usage(): Promise<Usage>; stop(): Promise<void> };

/** Starts `file`; its standard error, which is where the log goes, is thrown away. */
export async function startChild(file: string, words: string[]): Promise<Child> {
  const child = fork(file, words, { stdio: ['ignore', 'inherit', 'ignore', 'ipc'] });
  const ended = once(child, 'exit');
  const answer = async () => {
    const [message] = await Promise.race([once(child, 'message'), ended.then(() => [])]);
    if (message === undefined) throw new Error(`${file} ended early; run it by itself to see why.`);
    return message;
  };
  const { url } = await answer();
  return {
    url,
    usage() {
      child.send('usage');
      return answer();
    },
    async stop() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}

/** The other side of it, for `file`: ends with its parent. */
export function serveParent(url: string): void {
  process.on('disconnect', () => process.exit());
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.({ cpuMicros: user + system, statements });
  });
  process.send?.({ url });
}

let statements = 0;

/** Call before the first statement. */
export function countStatements(): void {
  const original = pg.Client.prototype.query;
  pg.Client.prototype.query = function counted(this: pg.Client, ...words: unknown[]) {
    statements += 1;
    return Reflect.apply(original, this, words);
  } as typeof original;
}
