/** Several worker processes on one port: this one starts them, replaces those that die or hang, and stops them all. */
import cluster from 'node:cluster';
import type { Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { UsageError } from '../../config.ts';
import type { Config } from '../../config.ts';
import { openConfiguredDatabase } from '../../database/open.ts';
import { urlOf } from '../../http/listen.ts';
import { warningLog } from '../../http/log.ts';
import type { Snapshot, Totals } from '../../http/metrics.ts';
import { watchSilence } from '../../limits/silence.ts';
import { messageOf } from '../../problems/message-of.ts';
import { printStartup } from '../startup.ts';
import type { StopSignal } from '../stop-signal.ts';
import { printLines } from '../terminal.ts';

// Workers accept connections themselves. If this process handed a connection to a worker that is just dying, it would be
// neither answered nor closed.
cluster.schedulingPolicy = cluster.SCHED_NONE;

const restartPausesMs = [0, 1_000, 2_000, 5_000];
/** A worker that ran for this long failed for a new reason. */
const healthyMs = 10_000;
/** Workers report every second. One that is silent for this long hangs, perhaps while it starts. */
const silentSeconds = 60;
/** A worker that is told to stop should exit within this time: its own limits are shorter. */
const stopMs = 27_000;

export async function serveWithWorkers(count: number, config: Config, stop: StopSignal, { demo }: { demo: boolean }) {
  // Migrated once, before any worker starts; an embedded database runs as long as this process.
  const database = await openConfiguredDatabase(config, { onProgress: printLines });
  const prometheus = config.METRICS_PORT === undefined ? undefined : await import('../../http/metrics.ts');
  const totals = prometheus?.createTotals();
  const workers = new WorkerPool(config.PORT, () => stop.isReceived(), totals);
  let scraped: { url: string; close(): void } | undefined;
  try {
    if (stop.isReceived()) return;
    for (let index = 0; index < count; index += 1) workers.start();
    const listening = await workers.firstUrl(config.HOST);
    const url = config.PUBLIC_URL ?? listening;
    if (totals && config.METRICS_PORT !== undefined)
      scraped = await prometheus?.serveMetrics({ host: config.HOST, port: config.METRICS_PORT, read: totals.read });
    await printStartup({ config, database, url, demo, metricsUrl: scraped?.url, processes: count + 1 });
    stop.onHangup(() => void workers.restart());
    stop.started();
    await stop.received;
    printLines('Stopping: finishing the requests in flight.');
  } finally {
    scraped?.close();
    await workers.stop();
    await database.close();
  }
}

class WorkerPool {
  /** Of all workers: with PORT=0, the one that the system chose. */
  readonly #port: number;
  readonly #isToldToStop: () => boolean;
  #isStopped = false;
  readonly #totals: Totals | undefined;
  /** The workers that are replaced when they exit. */
  readonly #workers = new Set<Worker>();
  #failures = 0;
  #restarting: Promise<void> = Promise.resolve();

  constructor(port: number, isToldToStop: () => boolean, totals: Totals | undefined) {
    this.#port = port;
    this.#isToldToStop = isToldToStop;
    this.#totals = totals;
  }

  #isStopping(): boolean {
    return this.#isStopped || this.#isToldToStop();
  }

  start(): void {
    this.#workers.add(this.#fork());
  }

  #fork(): Worker {
    const startedAt = performance.now();
    const worker = cluster.fork({ PORT: this.#port });
    const silence = watchSilence(silentSeconds, () => {
      warningLog({ message: 'Worker does not respond; ending it.', pid: worker.process.pid });
      worker.process.kill('SIGKILL');
    });
    worker.on('message', ({ metrics }: { metrics: Snapshot }) => {
      silence.heard();
      this.#totals?.receive(worker.id, metrics);
    });
    worker.on('error', ({ message }) => {
      warningLog({ message: 'A worker could not be started or reached.', reason: message });
      // Node reports no exit of a process that could not be started.
      if (worker.process.pid === undefined) worker.process.emit('exit', -1, null);
    });
    worker.once('exit', (code, signal) => {
      silence.close();
      this.#totals?.end(worker.id);
      if (this.#workers.delete(worker) && !this.#isStopping())
        void this.#replace(worker, { code, signal, ranMs: performance.now() - startedAt });
    });
    return worker;
  }

  async #replace(worker: Worker, { ranMs, ...end }: { code: number; signal: string; ranMs: number }): Promise<void> {
    this.#failures = ranMs > healthyMs ? 0 : this.#failures + 1;
    warningLog({ message: 'Worker exited; starting a replacement.', pid: worker.process.pid, ...end });
    for (;;) {
      await delay(restartPausesMs[this.#failures] ?? restartPausesMs.at(-1));
      if (this.#isStopping()) return;
      const started = this.#tryToFork();
      if (started) return void this.#workers.add(started);
      this.#failures += 1;
    }
  }

  /** Node throws some errors, such as ENOMEM or ETXTBSY, instead of passing them to the worker's listener. */
  #tryToFork(): Worker | undefined {
    try {
      return this.#fork();
    } catch (error) {
      warningLog({ message: 'A worker could not be started or reached.', reason: messageOf(error) });
      return undefined;
    }
  }

  /** Throws a UsageError if a worker ends before any listens; the worker has printed the reason. */
  async firstUrl(host: string): Promise<string> {
    const failed = once(cluster, 'exit').then(() => {
      throw new UsageError('a worker could not start; its message is above');
    });
    await Promise.race([once(cluster, 'listening'), failed]);
    return urlOf(host, this.#port);
  }

  /** Replaces the workers one by one: each stops once its successor listens, so that no request is rejected. */
  restart(): Promise<void> {
    return (this.#restarting = this.#restarting.then(async () => {
      printLines('Restarting the workers one by one.');
      // A copy, because successors join the set.
      for (const worker of Array.from(this.#workers)) {
        const successor = this.#tryToFork();
        const listens =
          successor &&
          (await Promise.race([
            once(successor, 'listening').then(() => true),
            once(successor, 'exit').then(() => false),
          ]));
        if (this.#isStopping()) return;
        if (!successor || !listens) return printLines('A new worker could not start; the others keep running.');
        // A worker that has ended since already has a replacement.
        const isReplaced = !this.#workers.delete(worker);
        if (!isReplaced) this.#workers.add(successor);
        await endWorker(isReplaced ? successor : worker);
      }
      printLines('All workers have been replaced.');
    }));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#workers.clear();
    await Promise.all(Object.values(cluster.workers ?? {}).map(async (worker) => worker && (await endWorker(worker))));
  }
}

/** Tells the worker to finish its requests, and kills it if it does not exit. */
async function endWorker(worker: Worker): Promise<void> {
  if (worker.isDead()) return;
  const ended = once(worker, 'exit');
  worker.process.kill('SIGTERM');
  const timer = setTimeout(() => worker.process.kill('SIGKILL'), stopMs);
  await ended;
  clearTimeout(timer);
}
