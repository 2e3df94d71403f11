/** Buffers the output for a slow reader in a file, so that the source can finish early. */
import { mkdtemp, open, rmdir, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rejectFullDisk } from '../problems/full-disk.ts';

const chunkBytes = 256 * 1024;

/** Yields the same bytes, but takes pieces as fast as they come. The file has no name: closing it frees its space. */
export async function* spooled(pieces: AsyncIterable<string>): AsyncGenerator<Buffer, undefined> {
  await using file = await openNameless().catch(rejectFullDisk);
  const state = { written: 0, ended: false, stopped: false, changed: Promise.withResolvers<void>() };
  const writing = writeAll(pieces, file, state);
  // Awaited below, after everything that was written before a failure has been read.
  writing.catch(() => undefined);
  try {
    for (let read = 0; ;) {
      if (read < state.written) {
        const length = Math.min(chunkBytes, state.written - read);
        const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, read);
        read += bytesRead;
        yield buffer.subarray(0, bytesRead);
      } else if (state.ended) {
        await writing;
        return;
      } else {
        state.changed = Promise.withResolvers();
        await state.changed.promise;
      }
    }
  } finally {
    state.stopped = true;
    await writing.catch(() => undefined);
  }
}

type State = { written: number; ended: boolean; stopped: boolean; changed: PromiseWithResolvers<void> };

async function writeAll(pieces: AsyncIterable<string>, file: FileHandle, state: State): Promise<void> {
  try {
    for await (const piece of pieces) {
      if (state.stopped) return;
      const bytes = Buffer.from(piece);
      await file.appendFile(bytes);
      state.written += bytes.length;
      state.changed.resolve();
    }
  } catch (error) {
    rejectFullDisk(error);
  } finally {
    state.ended = true;
    state.changed.resolve();
  }
}

/** Nothing is left of it even if the process is killed. */
export async function openNameless(): Promise<FileHandle> {
  // Only this account can access the folder.
  const folder = await mkdtemp(join(tmpdir(), 'proposal-api-file-'));
  const path = join(folder, 'file');
  const file = await open(path, 'wx+', 0o600);
  await unlink(path);
  await rmdir(folder);
  return file;
}
