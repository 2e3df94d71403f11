/** A folder for the files of one server. In the default one, the files of all servers on the machine count together. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export async function ownUploadFolder(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'uploads-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
