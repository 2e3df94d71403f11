/** The typed client as an npm package: `npm install <service>/client.tgz`. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { RequestHandler } from 'express';
import { ownFile, packageFile, readVersion } from '../files.ts';
import { Problem } from '../problems/problem.ts';

/** `npm run build` puts the package next to the built service; a checkout packs it when it is first requested. */
const isCheckout = import.meta.url.endsWith('.ts');
const built = ownFile('../client.tgz');
const program = packageFile('client/build/build.ts');

type ClientPackage = { bytes: Buffer; /** As npm writes it into a lockfile. */ integrity: string };

let packing: Promise<ClientPackage> | undefined;

/** The package, the same one for as long as the process runs. */
export function clientPackage(): Promise<ClientPackage> {
  packing ??= (isCheckout ? pack() : readFile(built)).then(
    (bytes) => ({ bytes, integrity: `sha512-${createHash('sha512').update(bytes).digest('base64')}` }),
    (error: unknown) => {
      packing = undefined;
      throw new Problem('unavailable', { reason: 'client_package' }, { cause: error });
    },
  );
  return packing;
}

async function pack(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'proposal-api-served-'));
  try {
    const file = join(folder, 'client.tgz');
    await promisify(execFile)(process.execPath, [program, '--tarball', file]);
    return await readFile(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** `cacheControl`: a file with a version in its name never changes; the newest is revalidated after five minutes. */
export const sendClientPackage =
  (cacheControl: 'public, max-age=300' | 'public, max-age=31536000, immutable'): RequestHandler =>
  async (request, response) => {
    const { bytes, integrity } = await clientPackage();
    const hash = integrity.slice('sha512-'.length);
    const etag = `"${hash.slice(0, 27)}"`;
    response.set({
      'Content-Type': 'application/gzip',
      'Content-Disposition': `attachment; filename="proposal-api-client-${readVersion()}.tgz"`,
      'Cache-Control': cacheControl,
      'Repr-Digest': `sha-512=:${hash}:`,
      ETag: etag,
    });
    // Not `request.fresh`: a fetch that sets this header itself also sends no-cache, for which Express always says no.
    if (request.headers['if-none-match']?.includes(etag)) response.status(304).end();
    else response.send(bytes);
  };
