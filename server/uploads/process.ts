/**
 * Runs a check or an import in a process of its own, with bounds on its time and memory: whatever a file does to it, the
 * service continues. In a thread, V8 could end both: threads share its memory for WebAssembly.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { Address } from '../database/orm.ts';
import type { ImportChoices, RememberedChoices, Upload } from '../entities/upload.ts';
import { ownModule } from '../files.ts';
import { OutOfTime } from './turns.ts';

export type Progress = Pick<Upload, 'bytesRead' | 'bytesTotal' | 'rowsRead'>;

type Known = 'id' | 'organizationId' | 'kind' | 'fileName' | 'memberId' | 'inspection' | 'records';
export type Job = Pick<Upload, Known> & {
  /** `resume` imports what an interrupted import has left. */
  task: 'check' | 'import' | 'resume';
  address: Address;
  file: string;
  /** Where rejected rows are written; it does not exist yet. */
  rejects: string;
  /** What the admin has chosen; null before. */
  choices: ImportChoices | null;
  /** What was chosen for the last file of this kind. */
  remembered: RememberedChoices | null;
};

/** What becomes of the upload. */
export type Outcome = Partial<
  Pick<Upload, 'state' | 'failure' | 'inspection' | 'mapping' | 'rows' | 'summary' | 'records'>
>;
export type Message =
  | { progress: Progress }
  | { outcome: Outcome }
  /** The properties of what was thrown. */
  | { error: Record<string, unknown> };

const bounds = { wholeMs: 15 * 60_000, shortMs: 20_000, graceMs: 10_000, memoryMb: 700 };

/** A file that cannot be imported as a whole, by the name that its owner knows. */
export const failed = ({ file, fileName }: Pick<Job, 'file' | 'fileName'>, sentence: string): Outcome => ({
  state: 'failed',
  failure: sentence.includes(file) ? sentence.replaceAll(file, fileName) : `${fileName}: ${sentence}`,
});
const stopped = (failure: string): Outcome => ({ state: 'stopped', failure });
const tooLong = stopped(`An import may take ${bounds.wholeMs / 60_000} minutes, and this one was stopped.`);

/** A check that may not take long is stopped early, with OutOfTime. */
export async function runInProcess(
  job: Job & { isLong: boolean },
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<Outcome> {
  const child = startProcess();
  const timers: NodeJS.Timeout[] = [];
  const { promise, resolve: end } = Promise.withResolvers<Outcome | Error>();
  let cause: Outcome | Error | undefined;
  const send = (message: Job | 'stop') => child.connected && child.send(message);
  const stop = (reason: Outcome | Error) => {
    cause ??= reason;
    send('stop');
    // A row that takes this long is not waited for. Its transaction ends with its connection.
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
    execArgv: [`--max-old-space-size=${bounds.memoryMb}`, '--max-semi-space-size=16'],
    // Structured clone: JSON would change Dates and lose what is undefined.
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
}

/** What V8 printed as the reason of its end; the rest of such a text could be a part of the file. */
function fatalOf(stream: Readable | null): () => string {
  let text = '';
  stream?.setEncoding('utf8').on('data', (piece: string) => (text = (text + piece).slice(0, 64_000)));
  return () => (text.match(/^(?:FATAL ERROR|# (?:Fatal error|Check failed)).*$/gm) ?? []).join(' ');
}

function died(job: Job, how: number | string | null, reason: string): Outcome | Error {
  if (reason.includes('JavaScript heap out of memory'))
    return failed(job, 'The file needs more memory than an import may use. Split it into several files.');
  return new Error(`The process of an import ended with ${how}. ${reason}`.trimEnd());
}
