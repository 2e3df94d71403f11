/** The files of uploads on this machine: readable by its account only, and removed after a day. */
import { constants, createReadStream, createWriteStream } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { access, chmod, lstat, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Upload } from '../entities/upload.ts';
import { Problem } from '../problems/problem.ts';

export const uploadBounds = {
  bytes: 100_000_000,
  /** After gzip. */
  unpackedBytes: 1_000_000_000,
  rows: 1_000_000,
  /** Uploads of all organizations that are not imported yet; and files of rejected rows, of which the oldest give way. */
  files: 100,
  keptForMs: 24 * 3_600_000,
} as const;

const idLength = 36;
/** The disk, or the share of it that the account may use. */
const fullDisk = new Set<unknown>(['ENOSPC', 'EDQUOT']);

type Named = Pick<Upload, 'id' | 'fileName'>;

/** A link that another account has put there is neither followed nor overwritten. */
const fresh = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

export class UploadFiles {
  readonly #wanted: string;
  #folder: Promise<string> | undefined;

  /** `wanted` is made where it does not exist. If another account owns it, the files go into a new folder beside it. */
  constructor(wanted: string) {
    this.#wanted = wanted;
  }

  pathOf = (upload: Named): Promise<string> => this.#path(nameOf(upload));
  has = async (upload: Named): Promise<boolean> => Boolean(await this.#found(nameOf(upload)));
  hasRejects = async (upload: Named): Promise<boolean> => Boolean(await this.#found(rejectsName(upload)));

  /** Where the rejected rows of a new check or import are written; those of the last one are removed. */
  async newRejects(upload: Named): Promise<string> {
    await this.#remove(rejectsName(upload));
    return this.#path(rejectsName(upload));
  }

  async readRejects(upload: Named): Promise<Readable> {
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW;
    // createReadStream passes flags on to open, which takes numbers; its types know only names.
    return createReadStream(await this.#path(rejectsName(upload)), { flags: flags as never });
  }

  /** Stores what is received. */
  async store(upload: Named, received: AsyncIterable<Buffer>, signal: AbortSignal): Promise<void> {
    const pending = (await this.#names()).filter((name) => !isRejects(name));
    if (pending.length >= uploadBounds.files)
      throw new Problem('limit', { sentence: 'Too many uploads are pending on this server. Try again tomorrow.' });
    await pipeline(received, writeFresh(await this.pathOf(upload)), { signal }).catch((cause: unknown) => {
      if (!fullDisk.has(Reflect.get(Object(cause), 'code'))) throw cause;
      const sentence =
        'The server has no space left for the file. Try again later, or tell the operator of the service.';
      throw new Problem('no_space', { sentence }, { cause });
    });
  }

  removeFile = (upload: Named): Promise<void> => this.#remove(nameOf(upload));

  async removeAll(upload: Named): Promise<void> {
    await Promise.all([this.#remove(nameOf(upload)), this.#remove(rejectsName(upload))]);
  }

  /** The uploads that have files here. */
  async ids(): Promise<string[]> {
    return [...new Set((await this.#names()).map(idIn))];
  }

  async removeFilesOf(ids: readonly string[]): Promise<void> {
    for (const name of await this.#names()) if (ids.includes(idIn(name))) await this.#remove(name);
  }

  /** Removes what is older than a day, and the oldest of too many files of rejected rows. */
  async prune(nowMs = Date.now()): Promise<void> {
    const found: { name: string; mtimeMs: number }[] = [];
    for (const name of await this.#names()) found.push({ name, mtimeMs: (await this.#found(name))?.mtimeMs ?? nowMs });
    const old = found.filter(({ mtimeMs }) => mtimeMs < nowMs - uploadBounds.keptForMs);
    const rejects = found.filter(({ name }) => isRejects(name)).toSorted((one, other) => other.mtimeMs - one.mtimeMs);
    for (const { name } of [...old, ...rejects.slice(uploadBounds.files)]) await this.#remove(name);
  }

  async #path(name: string): Promise<string> {
    return join(await (this.#folder ??= privateFolder(this.#wanted)), name);
  }

  #names = async (): Promise<string[]> => readdir(await this.#path('.'));
  #remove = async (name: string): Promise<void> => rm(await this.#path(name), { force: true });
  #found = async (name: string) => lstat(await this.#path(name)).catch(() => undefined);
}

// The end of the name tells the format, as it does on the command line.
const nameOf = ({ id, fileName }: Named) =>
  `${id}${/(?:\.(?:csv|tsv|jsonl|ndjson))?(?:\.gz)?$/i.exec(fileName)?.[0] ?? ''}`;
const rejectsEnd = '.rejected.csv';
const rejectsName = ({ id }: Pick<Named, 'id'>) => id + rejectsEnd;
const isRejects = (name: string) => name.endsWith(rejectsEnd);
const idIn = (name: string) => name.slice(0, idLength);

// createWriteStream passes flags on to open, which takes numbers; its types know only names.
export const writeFresh = (path: string): Writable => createWriteStream(path, { flags: fresh as never, mode: 0o600 });

/** The folder, which only this account can enter; it may be another one, if another account owns it. */
export async function privateFolder(path: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    if (Reflect.get(Object(error), 'code') !== 'EEXIST') throw error;
  });
  const found = await lstat(path);
  if (!found.isDirectory() || found.uid !== process.getuid?.()) return mkdtemp(`${path}-`);
  if ((found.mode & 0o077) !== 0) await chmod(path, 0o700);
  await access(path, constants.W_OK);
  return path;
}
