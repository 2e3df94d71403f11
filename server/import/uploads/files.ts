/** The files of uploads on this machine: readable by its account only, and removed after a day. */
import { createWriteStream } from 'node:fs';
import type { Writable } from 'node:stream';
import { access, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Upload } from '../../entities/upload.ts';
import { Problem } from '../../problems/problem.ts';

export const uploadBounds = {
  bytes: 100_000_000,
  /** After gzip. */
  unpackedBytes: 1_000_000_000,
  /** Files in the folder, of all organizations. */
  files: 100,
  keptForMs: 24 * 3_600_000,
} as const;

type Named = Pick<Upload, 'id' | 'fileName'>;

export type UploadFiles = ReturnType<typeof uploadFiles>;

export function uploadFiles(folder: string) {
  // The end of the name tells the format, as it does on the command line.
  const pathOf = ({ id, fileName }: Named) =>
    join(folder, `${id}${/(?:\.(?:csv|tsv|jsonl|ndjson))?(?:\.gz)?$/i.exec(fileName)?.[0] ?? ''}`);
  const rejectsOf = ({ id }: Pick<Named, 'id'>) => join(folder, `${id}.rejected.csv`);
  const has = (path: string) =>
    access(path).then(
      () => true,
      () => false,
    );
  return {
    pathOf,
    rejectsOf,
    has: (upload: Named) => has(pathOf(upload)),
    hasRejects: (upload: Named) => has(rejectsOf(upload)),
    write: (path: string): Writable => createWriteStream(path, { mode: 0o600 }),

    /** Stores what is received. */
    async store(upload: Named, received: AsyncIterable<Buffer>, signal: AbortSignal): Promise<void> {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      if ((await readdir(folder)).length >= uploadBounds.files)
        throw new Problem('limit', { sentence: 'Too many files are waiting on this server. Try again tomorrow.' });
      await pipeline(received, createWriteStream(pathOf(upload), { flags: 'wx', mode: 0o600 }), { signal });
    },
    async removeFile(upload: Named): Promise<void> {
      await rm(pathOf(upload), { force: true });
    },
    async removeAll(upload: Named): Promise<void> {
      await Promise.all([pathOf(upload), rejectsOf(upload)].map((path) => rm(path, { force: true })));
    },
    /** Removes what is older than a day. */
    async prune(nowMs = Date.now()): Promise<void> {
      for (const name of await readdir(folder).catch(() => [])) {
        const path = join(folder, name);
        const found = await stat(path).catch(() => undefined);
        if (found && found.mtimeMs < nowMs - uploadBounds.keptForMs) await rm(path, { force: true });
      }
    },
  };
}
