/**
 * Runs a check or an import in a separate process, with limits on its time and memory: whatever a file does to it, the
 * service keeps running. In a thread, V8 could end both, because threads share its memory for WebAssembly.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { Address } from '../database/orm.ts';
import type { ImportChoices, RememberedChoices, Upload } from '../entities/upload.ts';
import { ownModule } from '../files.ts';
import { OutOfTime } from './task-queue.ts';

export type Progress = Pick<Upload, 'bytesRead' | 'bytesTotal' | 'rowsRead'>;

type Known = 'id' | 'organizationId' | 'kind' | 'fileName' | 'memberId' | 'inspection' | 'records';
export type Job = Pick<Upload, Known> & {
  /** `resume` imports what an interrupted import left undone. */
  task: 'check' | 'import' | 'resume';
  address: Address;
  file: string;
  /** Where rejected rows are written; it does not exist yet. */
  rejects: string;
  /** What the admin has chosen; null until then. */
  choices: ImportChoices | null;
  /** What was chosen for earlier files of this kind. */
  remembered: RememberedChoices | null;
};

/** The changes to the upload. */
export type JobOutcome = Partial<
  Pick<Upload, 'state' | 'failure' | 'inspection' | 'mapping' | 'rows' | 'summary' | 'records'>
>;
export type Message =
  | { progress: Progress }
  /** With the bytes of memory that the process uses. */
  | { outcome: JobOutcome; memory: number }
  /** The properties of the error that was thrown. */
  | { error: Record<string, unknown> };

const bounds = {
  wholeMs: 15 * 60_000,
  shortMs: 20_000,
  graceMs: 10_000,
  memoryMb: 700,
  /** How long a process waits for another job, unless it uses more memory than this. */
  idleMs: 60_000,
  idleBytes: 200_000_000,
};

/** For a file that cannot be imported at all. The message has the name under which the file was uploaded. */
export const failed = ({ file, fileName }: Pick<Job, 'file' | 'fileName'>, sentence: string): JobOutcome => ({
  state: 'failed',
  failure: sentence.includes(file) ? sentence.replaceAll(file, fileName) : `${fileName}: ${sentence}`,
});
const stopped = (failure: string): JobOutcome => ({ state: 'stopped', failure });
const tooLong = stopped(`The import was stopped, because it took longer than ${bounds.wholeMs / 60_000} minutes.`);

/** A process, and what its events are passed to. */
type Worker = { child: ChildProcess; listener: (event: Message | Failure | Exit) => void; isReusable: boolean };
type Failure = { failure: Error };
type Exit = { exit: number | string | null; reason: string };

export class ImportProcesses {
  /** It waits for another job, because most jobs are shorter than the start of a process. */
  #idle: Worker | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** Unless the job is long, it is stopped early, with OutOfTime. */
  async run(
    job: Job & { isLong: boolean },
    signal: AbortSignal,
    onProgress: (progress: Progress) => void,
  ): Promise<JobOutcome> {
    const worker = this.#take() ?? startWorker();
    try {
      return await runIn(worker, job, signal, onProgress);
    } finally {
      this.close();
      if (worker.isReusable) this.#keep(worker);
      else end(worker);
    }
  }

  /** Ends the process that waits for a job, if there is one. */
  close(): void {
    const idle = this.#take();
    if (idle) end(idle);
  }

  #keep(worker: Worker): void {
    this.#idle = worker;
    this.#timer = setTimeout(() => this.close(), bounds.idleMs);
  }

  #take(): Worker | undefined {
    clearTimeout(this.#timer);
    const idle = this.#idle;
    this.#idle = undefined;
    return idle?.child.connected ? idle : undefined;
  }
}

async function runIn(worker: Worker, ...[job, signal, onProgress]: Parameters<ImportProcesses['run']>) {
  const { child } = worker;
  const timers: NodeJS.Timeout[] = [];
  const { promise, resolve: endWith } = Promise.withResolvers<JobOutcome | Error>();
  let cause: JobOutcome | Error | undefined;
  const send = (message: Job | 'stop') => child.connected && child.send(message);
  const stop = (why: JobOutcome | Error) => {
    cause ??= why;
    send('stop');
    // Rows that take longer are cut off. Their transaction ends with its connection.
    timers.push(setTimeout(() => child.kill('SIGKILL'), bounds.graceMs));
  };
  const onAbort = () => stop(stopped('The import was stopped.'));
  worker.isReusable = false;
  worker.listener = (event) => {
    if ('progress' in event) return onProgress(event.progress);
    if (!('outcome' in event)) return endWith(cause ?? errorOf(event, job));
    worker.isReusable = !cause && event.memory < bounds.idleBytes;
    endWith(event.outcome);
  };
  send(job);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  const [limitMs, tooLate] = job.isLong ? [bounds.wholeMs, tooLong] : [bounds.shortMs, new OutOfTime()];
  timers.push(setTimeout(() => stop(tooLate), limitMs));
  try {
    const last = await promise;
    if (last instanceof Error) throw last;
    return last;
  } finally {
    worker.listener = ignore;
    signal.removeEventListener('abort', onAbort);
    for (const timer of timers) clearTimeout(timer);
  }
}

function startWorker(): Worker {
  const child = fork(ownModule('uploads/worker.ts'), {
    execArgv: [
      `--max-old-space-size=${bounds.memoryMb}`,
      '--max-semi-space-size=16',
      `--import=${ownModule('start.ts').href}`,
    ],
    // Structured clone: JSON would change Dates and lose undefined values.
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const worker: Worker = { child, listener: ignore, isReusable: false };
  const reason = fatalOf(child.stderr);
  child.on('message', (message: Message) => worker.listener(message));
  child.on('error', (failure) => worker.listener({ failure }));
  child.on('close', (code, killedBy) => worker.listener({ exit: code ?? killedBy, reason: reason() }));
  return worker;
}

const ignore = () => undefined;
const end = ({ child }: Worker) => child.connected && child.disconnect();

/** The reason that V8 printed for its exit; the rest of the output could contain parts of the file. */
function fatalOf(stream: Readable | null): () => string {
  let text = '';
  stream?.setEncoding('utf8').on('data', (piece: string) => (text = (text + piece).slice(0, 64_000)));
  return () => (text.match(/^(?:FATAL ERROR|# (?:Fatal error|Check failed)).*$/gm) ?? []).join(' ');
}

function errorOf(event: Extract<Message, { error: unknown }> | Failure | Exit, job: Job): JobOutcome | Error {
  if ('failure' in event) return event.failure;
  if ('error' in event) return Object.assign(new Error(), event.error);
  if (event.reason.includes('JavaScript heap out of memory'))
    return failed(job, 'The file needs more memory than an import may use. Split it into several files.');
  return new Error(`The process of an import ended with ${event.exit}. ${event.reason}`.trimEnd());
}
