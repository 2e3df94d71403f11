/** What runs in the background for an upload, and how it ends. */
import { UsageError } from '../config.ts';
import type { Database } from '../database/orm.ts';
import { forOrganization } from '../database/tenant.ts';
import { Upload, workingStates } from '../entities/upload.ts';
import type { ImportChoices } from '../entities/upload.ts';
import { transactionTime } from '../entities/owned.ts';
import { Problem } from '../problems/problem.ts';
import { uploadBounds } from './files.ts';
import type { UploadFiles } from './files.ts';
import { Busy, runInProcess, Stopped } from './process.ts';
import type { Outcome, Progress } from './process.ts';
import { rememberedChoices } from './remembered.ts';
import { storable } from './storable.ts';
import { createTurns, takeShort } from './turns.ts';

type Parts = { database: Database; files: UploadFiles; onError: (error: unknown) => void };
/** `isTooLarge` tells, after the last byte, that the file was cut off; `stop` ends `bytes` with an error. */
export type ReceivedFile = { bytes: AsyncIterable<Buffer>; isTooLarge: () => boolean; stop: () => void };
type Changes = Outcome & Partial<Pick<Upload, 'failure' | keyof Progress>>;
type Task = { task: 'check' | 'import'; choices: ImportChoices | null };
/** A piece of work on an upload. Its signal says that the upload is gone, or that the process stops. */
type Work = (signal: AbortSignal, onProgress: (progress: Progress) => void) => Promise<Changes>;

/** How many uploads one process works on at a time. Each may use as much memory as its process. */
const atOnce = { all: 3, long: 2 };
/** A larger file is not tried as a short one. */
const shortBytes = 10_000_000;
/** Uploads whose check was short; an import that is forgotten counts as long. */
const mostRemembered = 1_000;
const beatMs = 1_000;
const discarded = new Error('The upload was discarded.');
const stopping = new Error('The server stops.');
const failedHere =
  'Something went wrong on our side; the details are in our log. Start again, or upload the file again.';

export function createRunner({ database, files, onError }: Parts) {
  const take = createTurns(atOnce);
  const short = new Set<string>();
  const running = new Map<Promise<void>, AbortController>();

  const save = async ({ id, organizationId }: Upload, changes: Changes): Promise<boolean> => {
    const em = forOrganization(database, organizationId).em();
    const where = { id, state: { $in: [...workingStates] } };
    return (await em.nativeUpdate(Upload, where, { ...storable(changes), activeAt: transactionTime() })) > 0;
  };

  /** Says every second that it is alive and how far it is, until it ends. */
  async function work(upload: Upload, run: Work): Promise<void> {
    const controller = new AbortController();
    let progress: Changes = {};
    const beat = () =>
      save(upload, progress)
        .then((isThere) => isThere || controller.abort(discarded))
        .catch(onError);
    const timer = setInterval(() => void beat(), beatMs);
    const done = run(controller.signal, (latest) => (progress = latest))
      .catch((error: unknown) => ended(error, upload))
      .finally(() => clearInterval(timer))
      .then((changes) => save(upload, { ...progress, ...changes }))
      .then((isThere) => (isThere ? undefined : files.removeAll(upload)))
      .catch(onError);
    running.set(done, controller);
    await done;
    running.delete(done);
  }

  async function ended(error: unknown, upload: Upload): Promise<Changes> {
    if (error instanceof Busy) return { state: 'checked', failure: error.message };
    if (error instanceof Stopped) return { state: 'stopped', failure: error.message };
    if (error instanceof UsageError) return { state: 'failed', failure: await forOwner(error.message, upload) };
    if (!(error instanceof Problem)) onError(error);
    return { state: 'failed', failure: error instanceof Problem ? error.message : failedHere };
  }

  /** The file has the name that its owner knows. */
  async function forOwner(sentence: string, upload: Upload): Promise<string> {
    const path = await files.pathOf(upload);
    return sentence.includes(path) ? sentence.replaceAll(path, upload.fileName) : `${upload.fileName}: ${sentence}`;
  }

  async function runTask(
    upload: Upload,
    { task, choices, isLong }: Task & { isLong: boolean },
    ...[signal, onProgress]: Parameters<Work>
  ): Promise<Outcome> {
    if (signal.aborted) throw new Stopped();
    const { organizationId, kind, fileName, memberId, inspection } = upload;
    const em = forOrganization(database, organizationId).em();
    return runInProcess(
      {
        organizationId,
        kind,
        fileName,
        memberId,
        inspection,
        choices,
        task,
        isLong,
        address: database.address,
        remembered: await rememberedChoices(em, kind),
        file: await files.pathOf(upload),
        rejects: await files.newRejects(upload),
      },
      signal,
      ({ bytesRead, bytesTotal, rowsRead }) =>
        onProgress({ bytesRead: Math.min(bytesRead, bytesTotal), bytesTotal, rowsRead }),
    );
  }

  /** An import takes about as long as its check, which may start over. */
  const inProcess =
    (upload: Upload, { task, choices }: Task): Work =>
    async (...watching) => {
      const { id, organizationId, bytesTotal } = upload;
      const run = (isLong: boolean) => runTask(upload, { task, choices, isLong }, ...watching);
      if (task === 'import') {
        const isLong = !short.delete(id);
        const outcome = await take(organizationId, isLong, () => run(true));
        if (outcome.state === 'imported') await files.removeFile(upload);
        return outcome;
      }
      if (bytesTotal > shortBytes) return take(organizationId, true, () => run(true));
      return takeShort(take, organizationId, run, () => {
        if (short.size >= mostRemembered) short.clear();
        short.add(id);
      });
    };

  return {
    /** Ends when the file is stored; its check continues. */
    async receive(upload: Upload, received: ReceivedFile): Promise<void> {
      let failure: Error | undefined;
      await work(upload, async (signal, onProgress) => {
        try {
          const bytesTotal = await storeFile(files, upload, received, { signal, onProgress });
          return { state: 'checking', bytesRead: 0, bytesTotal };
        } catch (error) {
          failure = error instanceof Error ? error : new Error(String(error));
          return { state: 'failed' };
        }
      });
      if (failure === undefined) return void work(upload, inProcess(upload, { task: 'check', choices: null }));
      await Promise.all([
        files.removeAll(upload),
        forOrganization(database, upload.organizationId).em().nativeDelete(Upload, { id: upload.id }),
      ]);
      throw failure;
    },
    check(upload: Upload): void {
      void work(upload, inProcess(upload, { task: 'check', choices: upload.mapping }));
    },
    import(upload: Upload): void {
      void work(upload, inProcess(upload, { task: 'import', choices: upload.mapping }));
    },
    async close(): Promise<void> {
      for (const controller of running.values()) controller.abort(stopping);
      await Promise.all(running.keys());
    },
  };
}

type Watching = { signal: AbortSignal; onProgress: (progress: Progress) => void };

/** Returns the file's size. */
async function storeFile(
  files: UploadFiles,
  upload: Upload,
  { bytes, isTooLarge, stop }: ReceivedFile,
  { signal, onProgress }: Watching,
): Promise<number> {
  let bytesRead = 0;
  signal.addEventListener('abort', stop, { once: true });
  async function* counted() {
    for await (const chunk of bytes) {
      bytesRead += chunk.length;
      onProgress({ bytesRead, bytesTotal: upload.bytesTotal, rowsRead: 0 });
      yield chunk;
    }
  }
  await files.store(upload, counted(), signal).catch((cause: unknown) => {
    const isOver = signal.aborted || Reflect.get(Object(cause), 'code') === 'ERR_STREAM_PREMATURE_CLOSE';
    throw isOver
      ? new Problem('unreadable', { sentence: 'The upload was interrupted. Upload the file again.' })
      : cause;
  });
  if (isTooLarge()) throw new Problem('too_large', { sentence: tooLarge, field: 'file' });
  return bytesRead;
}

export const tooLarge = `The file is larger than ${uploadBounds.bytes / 1_000_000} MB. Compress it with gzip, or split it.`;
