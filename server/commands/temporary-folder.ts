/** Exports, some uploads and the demo need temporary files; everything else works without them. */
import { mkdtemp, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
