/** The background work on an upload, and how it ends. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../database/orm.ts';
import { forOrganization } from '../database/tenant.ts';
import { Upload, workingStates } from '../entities/upload.ts';
import type { ImportChoices } from '../entities/upload.ts';
import { transactionTime } from '../entities/owned.ts';
import { Problem } from '../problems/problem.ts';
import { isUnavailable } from '../problems/translate.ts';
import { uploadBounds } from './files.ts';
import type { UploadFiles } from './files.ts';
import { ImportProcesses } from './process.ts';
import type { Job, JobOutcome, Progress } from './process.ts';
import { rememberedChoices, storable } from './stored.ts';
import { createTaskQueue, runShortFirst } from './task-queue.ts';

type Parts = { database: Database; files: UploadFiles; onError: (error: unknown) => void };
/** After the last byte, `isTooLarge` tells whether the file was cut off; `stop` ends `bytes` with an error. */
export type ReceivedFile = { bytes: AsyncIterable<Buffer>; isTooLarge: () => boolean; stop: () => void };
type Changes = JobOutcome & Partial<Progress>;
/** A piece of work on an upload. Its signal is aborted if the upload is discarded, or if the service stops. */
type Work = (signal: AbortSignal, onProgress: (progress: Progress) => void) => Promise<Changes>;

type Run = (isLong: boolean) => Promise<JobOutcome>;

/** How many uploads one process works on at a time. Each may use up to the memory limit of its child process. */
const atOnce = 3;
/** A larger file counts as long from the start. */
const shortBytes = 10_000_000;
/** How many uploads with a short check are remembered; the import of one that is forgotten counts as long. */
const mostRemembered = 1_000;
const beatMs = 1_000;
const discarded = new Error('The upload was discarded.');
const stopping = new Error('The server is stopping.');
const failedHere = 'Something went wrong on our side; the details are in our log. Try again.';

export class Runner {
  readonly #parts: Parts;
  readonly #run = createTaskQueue(atOnce);
  readonly #processes = new ImportProcesses();
  readonly #short = new Set<string>();
  readonly #running = new Map<Promise<void>, AbortController>();
  readonly #stopping = new AbortController();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Resolves when the file is stored; its check continues in the background. */
  async receive(upload: Upload, received: ReceivedFile): Promise<void> {
    let failure: Error | undefined;
    await this.#work(upload, async (signal, onProgress) => {
      try {
        const bytesTotal = await this.#store(upload, received, signal, onProgress);
        return { state: 'checking', bytesRead: 0, bytesTotal };
      } catch (error) {
        failure = error instanceof Error ? error : new Error(String(error));
        // The page shows it later: a sender whose connection broke gets no response.
        return { state: 'failed', failure: failure instanceof Problem ? failure.message : failedHere };
      }
    });
    if (failure === undefined) return this.start(upload, 'check', null);
    await this.#parts.files.removeFilesOf([upload.id]);
    throw failure;
  }

  /** Runs the task in the background. */
  start(upload: Upload, task: Job['task'], choices: ImportChoices | null = upload.mapping): void {
    void this.#work(upload, async (canceled, onProgress) => {
      const signal = AbortSignal.any([canceled, this.#stopping.signal]);
      const run: Run = async (isLong) => {
        if (signal.aborted) return { state: 'stopped' };
        const job = await this.#jobOf(upload, task, choices);
        return this.#processes.run({ ...job, isLong }, signal, onProgress);
      };
      if (task !== 'check') return this.#import(upload, run);
      return this.#check(upload, (isLong) =>
        run(isLong).catch(async (error: unknown) => {
          if (!isUnavailable(error)) throw error;
          this.#parts.onError(error);
          // A check stores nothing. Once the database is back, it starts over.
          await this.#saveLast(upload, {}, signal);
          return run(isLong);
        }),
      );
    });
  }

  /** Stops checks, and imports between two chunks. A file being received is received to the end. */
  stop(): void {
    this.#stopping.abort(stopping);
  }

  async close(): Promise<void> {
    for (const controller of this.#running.values()) controller.abort(stopping);
    await Promise.all(this.#running.keys());
    this.#processes.close();
  }

  #check({ id, organizationId, bytesTotal }: Upload, run: Run): Promise<JobOutcome> {
    if (bytesTotal > shortBytes) return this.#run(organizationId, true, () => run(true));
    return runShortFirst(this.#run, organizationId, run, () => {
      if (this.#short.size >= mostRemembered) this.#short.clear();
      this.#short.add(id);
    });
  }

  /** An import takes about as long as its check, and never starts over. */
  async #import(upload: Upload, run: Run): Promise<JobOutcome> {
    const isLong = !this.#short.delete(upload.id);
    const outcome = await this.#run(upload.organizationId, isLong, () => run(true));
    if (outcome.state === 'imported') await this.#parts.files.removeFile(upload);
    return outcome;
  }

  /** Saves a heartbeat and the progress every second until the work ends. */
  async #work(upload: Upload, run: Work): Promise<void> {
    const { files, onError } = this.#parts;
    const controller = new AbortController();
    let progress: Changes = {};
    const beat = () =>
      this.#save(upload, progress)
        .then((isThere) => isThere || controller.abort(discarded))
        .catch(onError);
    const timer = setInterval(() => void beat(), beatMs);
    const done = run(controller.signal, (latest) => (progress = latest))
      .catch((error: unknown): Changes => {
        onError(error);
        // What an import has stored stays, and it can be started again.
        return { state: upload.state === 'importing' ? 'stopped' : 'failed', failure: failedHere };
      })
      .finally(() => clearInterval(timer))
      .then((changes) => this.#saveLast(upload, { ...progress, ...changes }, controller.signal))
      .then((isThere) => (isThere ? undefined : files.removeFilesOf([upload.id])))
      .catch(onError);
    this.#running.set(done, controller);
    await done;
    this.#running.delete(done);
  }

  /** What was done must not be lost while the database is down. */
  async #saveLast(upload: Upload, changes: Changes, signal: AbortSignal): Promise<boolean> {
    for (;;) {
      try {
        return await this.#save(upload, changes);
      } catch (error) {
        if (signal.aborted || !isUnavailable(error)) throw error;
        this.#parts.onError(error);
        await delay(beatMs);
      }
    }
  }

  async #save({ id, organizationId }: Upload, changes: Changes): Promise<boolean> {
    const em = forOrganization(this.#parts.database, organizationId).em();
    const where = { id, state: { $in: [...workingStates] } };
    return (await em.nativeUpdate(Upload, where, { ...storable(changes), activeAt: transactionTime() })) > 0;
  }

  async #jobOf(upload: Upload, task: Job['task'], choices: Job['choices']): Promise<Job> {
    const { database, files } = this.#parts;
    const { id, organizationId, kind, fileName, memberId, inspection, records } = upload;
    const remembered = await rememberedChoices(forOrganization(database, organizationId).em(), kind);
    const [file, rejects] = [await files.pathOf(upload), await files.newRejects(upload)];
    const known = { id, organizationId, kind, fileName, memberId, inspection, records };
    return { ...known, task, choices, address: database.address, remembered, file, rejects };
  }

  /** Returns the file's size. */
  async #store(upload: Upload, received: ReceivedFile, ...[signal, onProgress]: Parameters<Work>): Promise<number> {
    const { bytes, isTooLarge, stop } = received;
    let bytesRead = 0;
    signal.addEventListener('abort', stop, { once: true });
    async function* counted() {
      for await (const chunk of bytes) {
        bytesRead += chunk.length;
        onProgress({ bytesRead, bytesTotal: upload.bytesTotal, rowsRead: 0 });
        yield chunk;
      }
    }
    await this.#parts.files.store(upload, counted(), signal).catch((cause: unknown) => {
      const isOver = signal.aborted || Reflect.get(Object(cause), 'code') === 'ERR_STREAM_PREMATURE_CLOSE';
      throw isOver ? interrupted() : cause;
    });
    if (isTooLarge()) throw new Problem('too_large', { sentence: tooLarge, field: 'file' });
    return bytesRead;
  }
}

export const interrupted = () =>
  new Problem('unreadable', { sentence: 'The upload was interrupted. Upload the file again.' });

export const tooLarge = `The file is larger than ${uploadBounds.bytes / 1_000_000} MB. Compress it with gzip, or split it.`;
