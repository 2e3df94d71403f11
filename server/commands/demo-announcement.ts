/** Shows the demo's key and passwords at a terminal, or else writes them to a file that only this user can read. */
import { appendFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Opened } from '../database/open.ts';
import { ensureDemo } from '../demo/demo.ts';

/** Container platforms and process managers store what a program prints, so it must not contain secrets. */
export async function announceDemo(database: Opened, url: string, say: (line: string) => void): Promise<void> {
  let file: string | undefined;
  const intoFile = (line: string) => {
    // The folder is this user's alone (0700), and its name is new.
    file ??= join(database.folder ?? mkdtempSync(join(tmpdir(), 'proposal-api-')), 'demo.txt');
    appendFileSync(file, `${line}\n`, { mode: 0o600 });
  };
  await ensureDemo(database, url, process.stdout.isTTY ? say : intoFile, async (member, password) => {
    const { setPassword } = await import('../accounts/sign-in.ts');
    await setPassword(database, member, password);
  });
  if (!file) return;
  say(`The demo's API key and passwords are in ${file}, which only this user can read. Try the key:`);
  say(`  curl -H "Authorization: Bearer $(grep -om1 'ak_live_[0-9a-f]*' '${file}')" "${url}/v1/customers?limit=5"`);
}
