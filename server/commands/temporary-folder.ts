/** Exports, some uploads, the demo, and imports from standard input need temporary files. */
import { mkdtemp, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../config.ts';
import { openNameless } from '../export/spool.ts';
import { messageOf } from '../problems/message-of.ts';

/** A warning if no temporary file can be created. */
export async function temporaryFolderWarnings(): Promise<string[]> {
  const folder = tmpdir();
  try {
    await rmdir(await mkdtemp(join(folder, 'proposal-api-probe-')));
    return [];
  } catch (error) {
    const how = 'exports and uploads will fail. Set TMPDIR to a folder that this user can write to.';
    return [`Warning: no temporary file can be created in ${folder} (${messageOf(error)}): ${how}`];
  }
}

/** Copies a stream, such as standard input, to a temporary file during `work`, which reads it more than once. */
export async function withCopy<T>(
  input: AsyncIterable<string | Uint8Array>,
  work: (file: string) => Promise<T>,
): Promise<T> {
  await using copy = await openNameless().catch(notCopied);
  const path = `/dev/fd/${copy.fd}`;
  try {
    await copy.writeFile(input).catch(notCopied);
    return await work(path);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(error.message.replaceAll(path, 'standard input'), { cause: error });
  }
}

function notCopied(cause: unknown): never {
  const sentence = `standard input cannot be copied to a temporary file in ${tmpdir()}: ${messageOf(cause)}`;
  throw new UsageError(`${sentence}. Set TMPDIR to another folder, or name the file instead.`, { cause });
}
