/** Several worker processes on one port: this one starts them, replaces those that die, and stops them all. */
import cluster from 'node:cluster';
import type { Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { UsageError } from '../config.ts';
import type { Config } from '../config.ts';
import { openConfiguredDatabase } from '../database/open.ts';
import { standardLog } from '../http/log.ts';
import { greet } from './serve-process.ts';
import type { StopSignal } from './stop-signal.ts';
import { say } from './terminal.ts';

const restartPausesMs = [0, 1_000, 2_000, 5_000];
/** A worker that ran for this long failed for a new reason. */
const healthyMs = 10_000;

export async function serveWithWorkers(
  count: number,
  config: Config,
  stop: StopSignal,
  { demo }: { demo: boolean },
): Promise<void> {
  // Migrated once, before any worker starts; an embedded database runs as long as this process.
  const database = await openConfiguredDatabase(config, say);
  try {
    if (stop.isReceived()) return;
    const crew = startWorkers(count, () => stop.isReceived());
    const listening = await crew.firstUrl(config.HOST);
    const url = config.PUBLIC_URL?.replace(/(?<!\/)\/+$/, '') ?? listening;
    const metrics =
      config.METRICS_PORT === undefined
        ? undefined
        : await (await import('../http/metrics.ts')).serveMetrics({ host: config.HOST, port: config.METRICS_PORT });
    await greet({ config, database, url, demo, metricsUrl: metrics?.url });
    stop.started();
    await stop.received;
    say('Stopping: finishing the requests in flight.');
    metrics?.close();
    await crew.stop();
  } finally {
    await database.close();
  }
}

function startWorkers(count: number, isStopping: () => boolean) {
  let failures = 0;
  // With PORT=0, the system chooses the port that the first worker listens on; a later one asks for the same.
  const chosen: { PORT?: string } = {};
  const start = (): Worker => {
    const startedAt = performance.now();
    const worker = cluster.fork(chosen);
    const replace = async (code: number, signal: string) => {
      if (isStopping()) return;
      failures = performance.now() - startedAt > healthyMs ? 0 : failures + 1;
      standardLog({ message: 'A worker ended, and is replaced.', pid: worker.process.pid, code, signal });
      await delay(restartPausesMs[failures] ?? restartPausesMs.at(-1));
      if (!isStopping()) start();
    };
    worker.once('exit', (code, signal) => void replace(code, signal));
    return worker;
  };
  for (let index = 0; index < count; index += 1) start();
  return {
    /** Throws a UsageError if a worker ends before any listens; the worker has printed the reason. */
    async firstUrl(host: string): Promise<string> {
      const failed = once(cluster, 'exit').then(() => {
        throw new UsageError('a worker could not start; its message is above');
      });
      const listening = once(cluster, 'listening') as Promise<[Worker, { port: number }]>; // as Node documents it
      const [, { port }] = await Promise.race([listening, failed]);
      failed.catch(() => undefined);
      chosen.PORT = String(port);
      const name = ['0.0.0.0', '::', '127.0.0.1'].includes(host) ? 'localhost' : host;
      return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
    },
    async stop(): Promise<void> {
      const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
      await Promise.all(
        workers.map(async (worker) => {
          const ended = once(worker, 'exit');
          worker.process.kill('SIGTERM');
          await ended;
        }),
      );
    },
  };
}
