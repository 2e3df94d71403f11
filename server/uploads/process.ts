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
  /** What was chosen for the last file of this kind. */
  remembered: RememberedChoices | null;
};

/** The changes to the upload. */
export type JobOutcome = Partial<
  Pick<Upload, 'state' | 'failure' | 'inspection' | 'mapping' | 'rows' | 'summary' | 'records'>
>;
export type Message =
  | { progress: Progress }
  | { outcome: JobOutcome }
  /** The properties of the error that was thrown. */
  | { error: Record<string, unknown> };

const bounds = { wholeMs: 15 * 60_000, shortMs: 20_000, graceMs: 10_000, memoryMb: 700 };

/** For a file that cannot be imported at all. The message has the name under which the file was uploaded. */
export const failed = ({ file, fileName }: Pick<Job, 'file' | 'fileName'>, sentence: string): JobOutcome => ({
  state: 'failed',
  failure: sentence.includes(file) ? sentence.replaceAll(file, fileName) : `${fileName}: ${sentence}`,
});
const stopped = (failure: string): JobOutcome => ({ state: 'stopped', failure });
const tooLong = stopped(`The import was stopped, because it took longer than ${bounds.wholeMs / 60_000} minutes.`);

/** Unless the job is long, it is stopped early, with OutOfTime. */
export async function runInProcess(
  job: Job & { isLong: boolean },
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<JobOutcome> {
  const child = startProcess();
  const timers: NodeJS.Timeout[] = [];
  const { promise, resolve: end } = Promise.withResolvers<JobOutcome | Error>();
  let cause: JobOutcome | Error | undefined;
  const send = (message: Job | 'stop') => child.connected && child.send(message);
  const stop = (reason: JobOutcome | Error) => {
    cause ??= reason;
    send('stop');
    // Rows that take longer are cut off. Their transaction ends with its connection.
    timers.push(setTimeout(() => child.kill('SIGKILL'), bounds.graceMs));
  };
  const onAbort = () => stop(stopped('The import was stopped.'));
  const reason = fatalOf(child.stderr);
  child.on('message', (message: Message) => {
    if ('progress' in message) onProgress(message.progress);
    else if ('outcome' in message) end(message.outcome);
    else end(cause ?? Object.assign(new Error(), message.error));
  });
  child.on('error', end);
  child.on('close', (code, killedBy) => end(cause ?? died(job, code ?? killedBy, reason())));
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
    signal.removeEventListener('abort', onAbort);
    for (const timer of timers) clearTimeout(timer);
  }
}

function startProcess(): ChildProcess {
  return fork(ownModule('uploads/worker.ts'), {
    execArgv: [
      `--max-old-space-size=${bounds.memoryMb}`,
      '--max-semi-space-size=16',
      `--import=${ownModule('start.ts').href}`,
    ],
    // Structured clone: JSON would change Dates and lose undefined values.
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
}

/** The reason that V8 printed for its exit; the rest of the output could contain parts of the file. */
function fatalOf(stream: Readable | null): () => string {
  let text = '';
  stream?.setEncoding('utf8').on('data', (piece: string) => (text = (text + piece).slice(0, 64_000)));
  return () => (text.match(/^(?:FATAL ERROR|# (?:Fatal error|Check failed)).*$/gm) ?? []).join(' ');
}

function died(job: Job, how: number | string | null, reason: string): JobOutcome | Error {
  if (reason.includes('JavaScript heap out of memory'))
    return failed(job, 'The file needs more memory than an import may use. Split it into several files.');
  return new Error(`The process of an import ended with ${how}. ${reason}`.trimEnd());
}
