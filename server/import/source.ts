/** A file of rows on disk, inspected before anything is imported, and read as a stream at any size. */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { pipeline as run } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { UsageError } from '../config.ts';
import { EncodingDetector } from './encoding.ts';
import type { Encoding } from './encoding.ts';
import type { Rejection } from './kind.ts';

/** A row as it was read; `line` is where it starts, from 1. `raw` is what the report of rejected rows repeats. */
export type RawRow = { line: number; raw: readonly string[] } & ({ value: unknown } | { rejections: Rejection[] });

export type Format = 'csv' | 'json-lines' | 'json-array';
export type Source = {
  file: string;
  format: Format;
  encoding: Encoding;
  isCompressed: boolean;
  size: number;
  /** Bytes of the file that have been read so far. */
  bytesRead: number;
};

const namedFormats: Readonly<Record<string, Format>> = {
  '.csv': 'csv',
  '.tsv': 'csv',
  '.jsonl': 'json-lines',
  '.ndjson': 'json-lines',
};

/**
 * Reads the file through once, so that one in an encoding or a format that nobody can read is rejected whole: half a
 * file imported is worse than none. A few compressed bytes can be many: `maximumBytes` bounds what they unpack to.
 */
export async function inspectFile(file: string, maximumBytes = Number.POSITIVE_INFINITY): Promise<Source> {
  const size = await sizeOf(file);
  const first = await firstBytes(file);
  if (first.subarray(0, 4).toString('latin1') === 'PK\u0003\u0004')
    throw new UsageError(
      `${file} is an Excel workbook or a ZIP archive. Save the sheet as "CSV UTF-8" and import that.`,
    );
  const isCompressed = first[0] === 0x1f && first[1] === 0x8b;
  const source: Source = { file, format: 'csv', encoding: 'utf-8', isCompressed, size, bytesRead: 0 };
  const detector = new EncodingDetector();
  let start = '';
  let unpackedBytes = 0;
  try {
    for await (const chunk of bytesOf(source)) {
      unpackedBytes += chunk.length;
      if (unpackedBytes > maximumBytes) break;
      if (start.trim() === '')
        start = chunk
          .subarray(0, 1024)
          .toString('utf8')
          .replace(/^\uFEFF/, '');
      detector.push(chunk);
    }
  } catch (cause) {
    throw unreadable(file, cause);
  }
  if (unpackedBytes > maximumBytes) {
    const maximum = maximumBytes.toLocaleString('en-US');
    throw new UsageError(`${file} unpacks to more than ${maximum} bytes. Split it into several files.`);
  }
  const encoding = detector.end();
  if (!encoding)
    throw new UsageError(`${file} is neither UTF-8 nor Windows-1252. Save it as UTF-8 (in Excel, "CSV UTF-8").`);
  const format = formatOf(file, start);
  if (format !== 'csv' && encoding !== 'utf-8') throw new UsageError(`${file} is not UTF-8, as JSON must be.`);
  return { ...source, format, encoding, bytesRead: 0 };
}

function formatOf(file: string, start: string): Format {
  const named = namedFormats[extname(file.replace(/\.gz$/i, '')).toLowerCase()];
  const [first] = start.trimStart();
  if (first === '[' && named !== 'csv') return 'json-array';
  return named ?? (first === '{' ? 'json-lines' : 'csv');
}

async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch((cause: unknown) => {
    throw unreadable(file, cause);
  });
  if (!found.isFile()) throw new UsageError(`${file} is not a file`);
  return found.size;
}

async function firstBytes(file: string): Promise<Buffer> {
  const handle = await open(file).catch((cause: unknown) => {
    throw unreadable(file, cause);
  });
  try {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(4) });
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

function unreadable(file: string, cause: unknown): UsageError {
  return new UsageError(`${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
}

/** The bytes of the file, unpacked. */
export function bytesOf(source: Source): AsyncIterable<Buffer> {
  source.bytesRead = 0;
  const file = createReadStream(source.file, { highWaterMark: 256 * 1024 });
  file.on('data', (chunk) => {
    source.bytesRead += chunk.length;
  });
  // An error destroys both streams, and the loop over the last one throws it.
  return source.isCompressed ? pipeline(file, createGunzip(), () => undefined) : file;
}

/** The characters of the file. */
export function textOf(source: Source): Readable {
  const bytes = bytesOf(source);
  if (source.encoding === 'utf-8') return Readable.from(bytes);
  return Readable.from(decode(bytes, source.encoding));
}

async function* decode(bytes: AsyncIterable<Buffer>, encoding: Encoding): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding);
  for await (const chunk of bytes) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}

/** Stores a stream, such as standard input, in a temporary file during `work`, because it is read more than once. */
export async function withSpooled<T>(input: AsyncIterable<Uint8Array>, work: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'proposal-api-import-'));
  try {
    const file = join(folder, 'input');
    await run(input, createWriteStream(file, { mode: 0o600 }));
    return await work(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
