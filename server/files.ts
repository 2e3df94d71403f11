/** Locates the service's own files. Only here, because a build's folders differ from a checkout's. */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder above server/, and in a build above dist/server/. */
const packageFolder = new URL(import.meta.url.endsWith('.ts') ? '..' : '../..', import.meta.url);

/** A file next to the code, such as `demo/items.csv`: below server/ in a checkout, below dist/server/ in a build. */
export const ownFile = (path: string): URL => new URL(path, import.meta.url);

/** A module that runs in its own process, such as `uploads/worker.ts`; in a build, a file next to main.js. */
export const ownModule = (path: string): URL =>
  import.meta.url.endsWith('.ts') ? ownFile(path) : ownFile(`${basename(path, '.ts')}.js`);

/** A file next to package.json. */
export const packageFile = (path: string): string => fileURLToPath(new URL(path, packageFolder));

/** The version of the service, and of its client. */
export function readVersion(): string {
  return String(Object(JSON.parse(readFileSync(packageFile('package.json'), 'utf8'))).version);
}
