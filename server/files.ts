/** Where the service finds its own files. Only here, because a build has its code in other folders than a checkout. */
import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';

const manifest = findPackageJSON(import.meta.url) ?? '';

/** A file beside the code, such as `demo/items.csv`: below server/ in a checkout, below dist/server/ in a build. */
export const ownFile = (path: string): URL => new URL(path, import.meta.url);

/** A file beside package.json. */
export const packageFile = (path: string): string => join(dirname(manifest), path);

/** The version of the service, and of its client. */
export function readVersion(): string {
  const { version }: { version: string } = JSON.parse(readFileSync(manifest, 'utf8'));
  return version;
}
