import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ignoring } from './account.ts';

/** fs.mkdir's own `recursive` never returns below a folder that cannot have children, such as /proc. */
export async function makeFolder(path: string): Promise<void> {
  const found = await stat(path).catch(ignoring('ENOENT'));
  if (found?.isDirectory()) return;
  if (dirname(path) !== path) await makeFolder(dirname(path));
  await mkdir(path, { mode: 0o755 }).catch(ignoring('EEXIST'));
}
