/** Runs a check or an import in a thread, with bounds on its time and memory. */
import { Worker } from 'node:worker_threads';
import { UsageError } from '../config.ts';
import type { Address } from '../database/orm.ts';
import type { Upload, ImportChoices } from '../entities/upload.ts';
import { ownModule } from '../files.ts';

export type Progress = Pick<Upload, 'bytesRead' | 'bytesTotal' | 'rowsRead'>;

export type Job = Pick<Upload, 'organizationId' | 'kind' | 'fileName' | 'memberId' | 'inspection'> & {
  task: 'check' | 'import';
  address: Address;
  file: string;
  /** Where rejected rows are written; it does not exist yet. */
  rejects: string;
  /** What the admin has chosen; null before. */
  choices: ImportChoices | null;
  /** What was chosen for the last file of this kind. */
  remembered: ImportChoices | null;
};

export type Outcome = Partial<Pick<Upload, 'state' | 'inspection' | 'mapping' | 'rows' | 'summary' | 'records'>>;
export type Message =
  | { progress: Progress }
  | { outcome: Outcome }
  /** For the owner of the file. */
  | { refused: string }
  /** Another import into the organization is running. */
  | { busy: string }
  | { error: string };

const bounds = { wholeMs: 15 * 60_000, graceMs: 10_000, memoryMb: 700 };

/** Another import into the organization is running. */
export class Busy extends Error {}
/** The thread was stopped by its signal, or by the clock. */
export class Stopped extends Error {}

const tooLong = () => new Stopped(`An import may take ${bounds.wholeMs / 60_000} minutes, and this one was stopped.`);

export async function runInThread(
  job: Job,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<Outcome> {
  const worker = new Worker(ownModule('uploads/worker.ts'), {
    workerData: job,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: bounds.memoryMb, maxYoungGenerationSizeMb: 48 },
  });
  const timers: NodeJS.Timeout[] = [];
  let cause: Error | undefined;
  const stop = (reason: Error) => {
    cause ??= reason;
    worker.postMessage('stop');
    // A row that takes this long is not waited for. Its transaction ends with its connection.
    timers.push(setTimeout(() => void worker.terminate(), bounds.graceMs));
  };
  const onAbort = () => stop(new Stopped('The import was stopped.'));
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  timers.push(setTimeout(() => stop(tooLong()), bounds.wholeMs));
  try {
    return await new Promise<Outcome>((resolve, reject) => {
      worker.on('message', (message: Message) => {
        if ('progress' in message) onProgress(message.progress);
        else if ('outcome' in message) resolve(message.outcome);
        else reject(cause ?? failureOf(message));
      });
      worker.on('error', (error: Error) => reject(cause ?? outOfMemory(error) ?? error));
      worker.on('exit', (code) => reject(cause ?? new Error(`The thread of an import ended with ${code}.`)));
    });
  } finally {
    signal.removeEventListener('abort', onAbort);
    for (const timer of timers) clearTimeout(timer);
  }
}

function failureOf(message: Exclude<Message, { progress: Progress } | { outcome: Outcome }>): Error {
  if ('busy' in message) return new Busy(message.busy);
  return 'refused' in message ? new UsageError(message.refused) : new Error(message.error);
}

function outOfMemory(error: Error): UsageError | undefined {
  if (Reflect.get(error, 'code') !== 'ERR_WORKER_OUT_OF_MEMORY') return undefined;
  return new UsageError('The file needs more memory than an import may use. Split it into several files.');
}
