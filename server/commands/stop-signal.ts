/**
 * SIGINT and SIGTERM: the first stops gracefully, the second exits immediately. SIGHUP restarts the workers; without
 * workers, or when a terminal is closed, it stops like the others.
 */
import cluster from 'node:cluster';
import { constants } from 'node:os';

export type StopSignal = ReturnType<typeof onStopSignal>;

const startGraceMs = 3_000;

export function onStopSignal() {
  const { promise, resolve } = Promise.withResolvers<void>();
  let count = 0;
  let isStarting = true;
  let restart: (() => void) | undefined;
  const stop = (signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP') => {
    const end = () => process.exit(128 + constants.signals[signal]);
    count += 1;
    if (count > 1) end();
    if (isStarting) setTimeout(() => isStarting && end(), startGraceMs).unref();
    resolve();
  };
  process.on('SIGTERM', () => stop('SIGTERM'));
  // Ctrl-C reaches every process of a terminal; workers wait for their primary to stop them.
  process.on('SIGINT', () => cluster.isPrimary && stop('SIGINT'));
  process.on('SIGHUP', () => {
    if (cluster.isWorker) return;
    if (restart && !process.stdin.isTTY) restart();
    else stop('SIGHUP');
  });
  return {
    received: promise,
    isReceived: () => count > 0,
    /** Call it once startup is complete. Until then, a signal also ends a start that hangs, after a few seconds. */
    started: () => void (isStarting = false),
    /** Sets what SIGHUP does instead of stopping. */
    onHangup: (work: () => void) => void (restart = work),
  };
}
