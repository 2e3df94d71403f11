/**
 * The typed client as an npm package and as modules. Every released version stays at its own URL, byte for byte, so
 * lockfiles keep working: `npm install <service>/client-<version>.tgz`.
 */
import { execFile } from 'node:child_process';
import { hash as hashOf } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import type { Response, Router } from 'express';
import { ownFile, packageFile, readVersion } from '../files.ts';
import { Problem } from '../problems/problem.ts';

/** `npm run build` puts every version next to the built service; a checkout packs an unreleased version on request. */
const isCheckout = import.meta.url.endsWith('.ts');
const folder = isCheckout ? packageFile('client/releases') : fileURLToPath(ownFile('../client'));
const program = packageFile('client/build/build.ts');

type ClientPackage = { bytes: Buffer; hash: string; isReleased: boolean };

const packages = new Map<string, Promise<ClientPackage>>();

/** The package of this version, cached for the life of the process; undefined if there is none. */
function clientPackage(version: string): Promise<ClientPackage> | undefined {
  const file = join(folder, `${version}.tgz`);
  const isKept = existsSync(file);
  if (!isKept && (!isCheckout || version !== readVersion())) return undefined;
  const known = packages.get(version);
  if (known) return known;
  const reading = (isKept ? readFile(file) : pack()).then(
    (bytes) => {
      const hash = hashOf('sha512', bytes, 'buffer');
      return { bytes, hash: hash.toString('base64'), isReleased: hasSum(hash.toString('hex'), version) };
    },
    (error: unknown) => {
      packages.delete(version);
      throw new Problem('unavailable', { reason: 'client_package' }, { cause: error });
    },
  );
  packages.set(version, reading);
  return reading;
}

/** Only released versions are listed in SHA512SUMS; the bytes of an unreleased build can still change. */
function hasSum(hash: string, version: string): boolean {
  const sums = join(folder, 'SHA512SUMS');
  return existsSync(sums) && readFileSync(sums, 'utf8').includes(`${hash}  ${version}.tgz\n`);
}

async function pack(): Promise<Buffer> {
  const temporary = await mkdtemp(join(tmpdir(), 'proposal-api-served-'));
  try {
    const file = join(temporary, 'client.tgz');
    await promisify(execFile)(process.execPath, [program, '--tarball', file]);
    return await readFile(file);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** `/client.tgz` and `/client.js` redirect to the newest version. */
export function addClient(router: Router, baseUrl: string): void {
  const version = readVersion();
  const newest = (path: string) => (_: unknown, response: Response) =>
    response.set({ 'Cache-Control': 'public, max-age=300', ...readable }).redirect(302, baseUrl + path);
  router.get('/client.tgz', newest(`/client-${version}.tgz`));
  router.get('/client.js', newest(`/client-${version}/index.js`));
  router.get(/^\/client-([\w.-]+)\.tgz$/, async ({ params }, response) => {
    const found = await clientPackage(String(params[0]));
    if (!found) throw unknownVersion(version, baseUrl);
    const { bytes, hash } = found;
    response.set({
      'Content-Type': 'application/gzip',
      'Content-Disposition': `attachment; filename="proposal-api-client-${params[0]}.tgz"`,
      'Repr-Digest': `sha-512=:${hash}:`,
    });
    sendCached(response, found, bytes);
  });
  router.get(/^\/client-([\w.-]+)\/([\w-]+(?:\.d\.ts|\.js|\.js\.map))$/, async ({ params }, response) => {
    const found = await clientPackage(String(params[0]));
    const file = found && fileIn(found.bytes, `package/dist/esm/${params[1]}`);
    if (!found || !file) throw unknownVersion(version, baseUrl);
    const name = String(params[1]);
    response.type(name.endsWith('.ts') ? 'application/typescript' : extname(name));
    // Deno finds the types through this header.
    if (name.endsWith('.js')) response.set('X-TypeScript-Types', `./${name.replace(/\.js$/, '.d.ts')}`);
    sendCached(response.set(readable), found, file);
  });
}

/** Lets browsers import the modules from other origins. */
const readable = { 'Access-Control-Allow-Origin': '*' };

const unknownVersion = (version: string, baseUrl: string) =>
  new Problem('route_not_found', {
    hint: `The newest version of the client is ${version}: ${baseUrl}/client-${version}.tgz.`,
  });

/** A released version never changes. */
function sendCached(response: Response, { hash, isReleased }: ClientPackage, bytes: Buffer): void {
  const etag = `"${hash.slice(0, 27)}"`;
  response.set({
    'Cache-Control': isReleased ? 'public, max-age=31536000, immutable' : 'public, max-age=300',
    ETag: etag,
  });
  // Not `request.fresh`: a browser fetch that sets this header also sends no-cache, and Express then treats it as stale.
  if (response.req.headers['if-none-match']?.includes(etag)) response.status(304).end();
  else response.send(bytes);
}

const blockBytes = 512;

/** A file in a gzipped tar archive. Each has a header block with its name and size, then its bytes in whole blocks. */
function fileIn(archive: Buffer, wanted: string): Buffer | undefined {
  const tar = gunzipSync(archive);
  for (let start = 0; start < tar.length;) {
    const name = tar.toString('latin1', start, start + 100).replace(/\0.*$/s, '');
    const size = Number.parseInt(tar.toString('latin1', start + 124, start + 136), 8) || 0;
    const content = start + blockBytes;
    if (name === wanted) return tar.subarray(content, content + size);
    start = content + Math.ceil(size / blockBytes) * blockBytes;
  }
  return undefined;
}
