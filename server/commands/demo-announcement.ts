/** Shows the demo's key and passwords on a terminal; otherwise, writes them to a file that only this user can read. */
import { appendFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConfiguredDatabase } from '../database/open.ts';
import { ensureDemo } from '../demo/demo.ts';
import { Organization } from '../entities/organization.ts';
import { printLines } from './terminal.ts';

/** Container platforms and process managers store what a program prints, so it must not contain secrets. */
export async function announceDemo(database: ConfiguredDatabase, url: string): Promise<void> {
  let file: string | undefined;
  const intoFile = (line: string) => {
    if (file === undefined) {
      // Only this user can access the folder (0700), and its name is new.
      file = join(database.folder ?? mkdtempSync(join(tmpdir(), 'proposal-api-')), 'demo.txt');
      // A failed start may have left a key that was never stored.
      rmSync(file, { force: true });
    }
    appendFileSync(file, `${line}\n`, { mode: 0o600 });
  };
  const isMade = await ensureDemo(database, url, process.stdout.isTTY ? printLines : intoFile);
  if (!isMade) return announceAgain(database, url);
  if (file === undefined) return;
  announceFile(file, url);
  announceAddresses(url);
}

function announceFile(file: string, url: string): void {
  const quoted = `'${file.replaceAll("'", String.raw`'\''`)}'`;
  printLines(
    `The demo's API key and passwords are in ${file}, which only this user can read. Try the key:`,
    `  curl -H "Authorization: Bearer $(grep -om1 'ak_live_[0-9a-f]*' ${quoted})" "${url}/v1/customers?limit=5"`,
  );
}

/** Repeats what the first start said, except for the key. */
async function announceAgain({ orm, folder }: ConfiguredDatabase, url: string): Promise<void> {
  if ((await orm.em.fork().findOne(Organization, { slug: 'demo' })) === null) return;
  const file = folder === undefined ? undefined : join(folder, 'demo.txt');
  if (file !== undefined && existsSync(file)) announceFile(file, url);
  else
    printLines(
      'The key of the demo was shown only once; `npx proposal-api keys create --organization demo` creates another.',
    );
  announceAddresses(url);
}

const announceAddresses = (url: string): void =>
  printLines(`Documentation: ${url}/docs`, `Settings (create keys here): ${url}/settings`);
