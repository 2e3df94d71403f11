/** The uploaded files on this machine: readable only by the service's account, and removed after a day. */
import { constants, createReadStream, createWriteStream } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { access, chmod, lstat, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ignoring } from '../embedded/account.ts';
import { makeFolder } from '../embedded/make-folder.ts';
import type { Upload } from '../entities/upload.ts';
import { rejectFullDisk } from '../problems/full-disk.ts';
import { Problem } from '../problems/problem.ts';

export const uploadBounds = {
  bytes: 100_000_000,
  /** After decompression. */
  unpackedBytes: 1_000_000_000,
  rows: 1_000_000,
  /** Of all organizations: uploads not imported yet, and separately files of rejected rows; the newest are kept. */
  files: 100,
  keptForMs: 24 * 3_600_000,
} as const;

type Named = Pick<Upload, 'id' | 'fileName'>;

/** Neither follows nor overwrites a link that another account has put there. */
const fresh = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

export class UploadFiles {
  readonly #wanted: string;
  /** Empty until it is first needed. */
  #folder = Promise.resolve('');

  /** `wanted` is created if it does not exist. If another account owns it, the files go into a new folder beside it. */
  constructor(wanted: string) {
    this.#wanted = wanted;
  }

  pathOf = (upload: Named): Promise<string> => this.#path(nameOf(upload));
  has = async (upload: Named): Promise<boolean> => Boolean(await this.#found(nameOf(upload)));
  hasRejects = async (upload: Named): Promise<boolean> => Boolean(await this.#found(rejectsName(upload)));

  /** Where the rejected rows of a new check or import are written; those of the previous one are removed. */
  async newRejects(upload: Named): Promise<string> {
    await this.#remove(rejectsName(upload));
    return this.#path(rejectsName(upload));
  }

  async readRejects(upload: Named): Promise<Readable> {
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW;
    // createReadStream passes flags to open, which accepts numbers; its types allow only strings.
    return createReadStream(await this.#path(rejectsName(upload)), { flags: flags as never });
  }

  async store(upload: Named, received: AsyncIterable<Buffer>, signal: AbortSignal): Promise<void> {
    const pending = (await this.#names()).filter((name) => !isRejects(name));
    if (pending.length >= uploadBounds.files)
      throw new Problem('limit', { sentence: 'Too many uploads are pending on this server. Try again later.' });
    await pipeline(received, writeFresh(await this.pathOf(upload)), { signal }).catch(rejectFullDisk);
  }

  removeFile = (upload: Named): Promise<void> => this.#remove(nameOf(upload));

  /** The uploads that have files here. */
  async ids(): Promise<string[]> {
    return [...new Set((await this.#names()).map(idIn))];
  }

  async removeFilesOf(ids: readonly string[]): Promise<void> {
    for (const name of await this.#names()) if (ids.includes(idIn(name))) await this.#remove(name);
  }

  /**
   * Removes files that are older than a day, and the oldest files of rejected rows if there are too many. `findRecent`
   * tells which uploads are younger, whatever the times of their files are.
   */
  async prune(findRecent: (ids: string[]) => Promise<string[]>, nowMs = Date.now()): Promise<void> {
    const found: { name: string; mtimeMs: number }[] = [];
    for (const name of await this.#names()) found.push({ name, mtimeMs: (await this.#found(name))?.mtimeMs ?? nowMs });
    const seemOld = found.filter(({ mtimeMs }) => mtimeMs < nowMs - uploadBounds.keptForMs);
    const recent = seemOld.length > 0 ? await findRecent(seemOld.map(({ name }) => idIn(name))) : [];
    const old = seemOld.filter(({ name }) => !recent.includes(idIn(name)));
    const rejects = found.filter(({ name }) => isRejects(name)).toSorted((one, other) => other.mtimeMs - one.mtimeMs);
    for (const { name } of [...old, ...rejects.slice(uploadBounds.files)]) await this.#remove(name);
  }

  async #path(name: string): Promise<string> {
    // Created again if that failed before, or if a cleaner of temporary files has removed it.
    this.#folder = this.#folder
      .then((folder) => access(folder).then(() => folder))
      .catch(() => privateFolder(this.#wanted));
    return join(await this.#folder, name);
  }

  #names = async (): Promise<string[]> => readdir(await this.#path('.'));
  #remove = async (name: string): Promise<void> => rm(await this.#path(name), { force: true });
  #found = (name: string) =>
    this.#path(name)
      .then((path) => lstat(path))
      .catch(() => undefined);
}

// The extension tells the format, as on the command line.
const nameOf = ({ id, fileName }: Named) =>
  `${id}${/(?:\.(?:csv|tsv|jsonl|ndjson))?(?:\.gz)?$/i.exec(fileName)?.[0] ?? ''}`;
const rejectsEnd = '.rejected.csv';
const rejectsName = ({ id }: Pick<Named, 'id'>) => id + rejectsEnd;
const isRejects = (name: string) => name.endsWith(rejectsEnd);
/** Each name begins with the id of the upload, a UUID. */
const idIn = (name: string) => name.slice(0, 36);

// createWriteStream passes flags to open, which accepts numbers; its types allow only strings.
export const writeFresh = (path: string): Writable => createWriteStream(path, { flags: fresh as never, mode: 0o600 });

/** A folder that only this account can enter: `path`, or a new one beside it if another account owns `path`. */
export async function privateFolder(path: string): Promise<string> {
  await makeFolder(dirname(path));
  await mkdir(path, { mode: 0o700 }).catch(ignoring('EEXIST'));
  const found = await lstat(path);
  if (!found.isDirectory() || found.uid !== process.getuid?.()) return mkdtemp(`${path}-`);
  if ((found.mode & 0o077) !== 0) await chmod(path, 0o700);
  await access(path, constants.W_OK);
  return path;
}
