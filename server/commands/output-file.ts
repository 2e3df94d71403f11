/** Files that commands write. */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { open, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import { UsageError } from '../config.ts';
import { systemCode } from '../problems/full-disk.ts';
import { messageOf } from '../problems/message-of.ts';
import { warn } from './terminal.ts';

/** A partial file to which nothing was written for this long is not in use: the command that wrote it was killed. */
const abandonedMs = 3_600_000;

/**
 * Writes the file under a temporary name until it is complete: an interrupted command never replaces a good file, and a
 * command may read the file that it replaces. Anything but a regular file, such as a named pipe, is written directly.
 */
export async function writeFile<T>(file: string, write: (output: Writable) => Promise<T>, mode = 0o666): Promise<T> {
  const found = await stat(file).catch(() => undefined);
  const isDirect = found !== undefined && !found.isFile();
  const target = found ? await realpath(file) : file;
  const partial = isDirect ? file : `${target}.${randomUUID()}.partial`;
  if (!isDirect) await removeAbandoned(target);
  const finished = isDirect ? undefined : removedOnSignal(partial);
  let output: Writable | undefined;
  try {
    // Opened here, so that a failure is reported as this command's. A file that only its owner could read stays that way.
    const handle = await open(partial, isDirect ? 'w' : 'wx', found ? mode & found.mode : mode);
    output = handle.createWriteStream({ flush: !isDirect });
    const result = await write(output);
    if (!isDirect) await rename(partial, target);
    return result;
  } catch (error) {
    output?.destroy();
    if (output && !isDirect) await rm(partial, { force: true });
    const code = systemCode(error);
    if (typeof code === 'string' && /^(ENOENT|EACCES|EISDIR|ENOTDIR|ENAMETOOLONG|ENOSPC|EDQUOT|EROFS)$/.test(code)) {
      throw new UsageError(`${file} cannot be written (${code})`, { cause: error });
    }
    throw error;
  } finally {
    finished?.();
  }
}

/** Removes what a killed command left behind, because it may hold personal data; only warns of what may be in use. */
async function removeAbandoned(target: string): Promise<void> {
  const folder = dirname(target);
  for (const name of await readdir(folder).catch(() => [])) {
    const [, of] = /^(.+)\.[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.partial$/.exec(name) ?? [];
    if (of !== basename(target)) continue;
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (!found) continue;
    if (found.mtimeMs > Date.now() - abandonedMs)
      warn(`Warning: ${path} is incomplete. If the command that wrote it was killed, delete the file.`);
    else
      await rm(path).then(
        () => warn(`Removed ${path}, left behind by a command that was killed.`),
        (error: unknown) => warn(`Warning: ${path} cannot be removed: ${messageOf(error)}`),
      );
  }
}

/** If Ctrl-C or a supervisor ends the command, it leaves nothing behind. Call the result once the file is complete. */
function removedOnSignal(partial: string): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const end = (signal: NodeJS.Signals) => {
    rmSync(partial, { force: true });
    process.kill(process.pid, signal);
  };
  for (const signal of signals) process.once(signal, end);
  return () => {
    for (const signal of signals) process.off(signal, end);
  };
}
