/** A file of rows on disk: its format, its unpacked bytes, and its text. */
import { open, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { withoutExponent } from '../../contract/decimal.ts';
import { UsageError } from '../config.ts';
import { messageOf } from '../problems/message-of.ts';

/** A number only if a workbook says that the cell is one. */
export type Cell = string | number;

/** A number has the 15 digits that a spreadsheet shows: 0.1 + 0.2 is stored with 17. */
export const printCell = (cell: Cell): string =>
  typeof cell === 'number' ? withoutExponent(Number(cell.toPrecision(15))) : cell;

/** A header has room for the longest metadata key in each column. */
export const maximumColumns = 1000;

type Format = 'csv' | 'xlsx' | 'json-lines' | 'json-array';
type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';
export type Source = {
  file: string;
  format: Format;
  encoding: Encoding;
  isCompressed: boolean;
  size: number;
  /** When the file was last changed; absent if an earlier release inspected an upload. */
  modifiedMs?: number;
  /** How many sheets a workbook has, once it has been read; records are read only from the first visible one. */
  sheets?: number;
  bytesRead: number;
  /** The maximum unpacked size: a small compressed file can unpack to a huge one. */
  maximumBytes: number;
};

/** A record of a table: its cells, or why it and the rest of the file cannot be read. `line` is where it starts. */
export type TableRecord<Content extends Cell = Cell> = { line: number } & (
  | { cells: readonly Content[] }
  | { fault: string }
);

/** Detects the format from the file's name and its first bytes. */
export async function openSource(file: string, maximumBytes = Number.POSITIVE_INFINITY): Promise<Source> {
  const plain = { format: 'csv', encoding: 'utf-8', isCompressed: false, bytesRead: 0, maximumBytes } as const;
  const source: Source = { ...plain, file, ...(await stateOf(file)) };
  const packed = await firstBytes(source);
  if (packed.toString('latin1', 0, 4) === 'PK\u0003\u0004') return { ...source, format: 'xlsx' };
  source.isCompressed = packed[0] === 0x1f && packed[1] === 0x8b;
  const first = source.isCompressed ? await firstBytes(source) : packed;
  if (first[0] === 0xff && first[1] === 0xfe) source.encoding = 'utf-16le';
  else if (first[0] === 0xfe && first[1] === 0xff) source.encoding = 'utf-16be';
  else if (first.subarray(0, 16).includes(0))
    // Such as an Excel 97 workbook (.xls), a workbook with a password, a picture, or UTF-16 without a byte order mark.
    throw new UsageError(
      `${file} is not a text file. Save it as an Excel workbook (.xlsx) without a password, or as "CSV UTF-8".`,
    );
  return { ...source, format: await formatOf(source) };
}

/** Such as a report that a web page offers as .xls or .csv. */
const document = /^(?:%PDF-|\{\\rtf|<(?:!doctype|html|table|\?xml)\b)/i;

async function formatOf(source: Source): Promise<Format> {
  const { file } = source;
  const isCsv = /\.[ct]sv(?:\.gz)?$/i.test(file);
  let start = '';
  for await (const text of textOf({ ...source, encoding: 'windows-1252' })) {
    start = text.replace(/^\u00EF\u00BB\u00BF/, '').trimStart();
    if (start !== '') break;
  }
  const [first] = start;
  if (document.test(start))
    throw new UsageError(
      `${file} is a document or a web page, not a table. Save its table as an Excel workbook (.xlsx), or as "CSV UTF-8".`,
    );
  if (!isCsv && /^\{\s*[\r\n]/.test(start))
    throw new UsageError(
      `${file} has one JSON object on several lines. Write each record on a line of its own, or all of them as one array.`,
    );
  if (first === '[' && !isCsv) return 'json-array';
  const isLines = first === '{' || /\.(?:jsonl|ndjson)(?:\.gz)?$/i.test(file);
  return isLines && !isCsv ? 'json-lines' : 'csv';
}

async function stateOf(file: string): Promise<{ size: number; modifiedMs: number }> {
  const found = await stat(file).catch((cause: unknown) => {
    throw unreadable(file, cause);
  });
  if (!found.isFile()) throw new UsageError(`${file} is not a file`);
  return { size: found.size, modifiedMs: found.mtimeMs };
}

/** Columns could have moved, and a file that is written again is empty in between. */
async function requireUnchanged({ file, size, modifiedMs }: Source, handle: FileHandle): Promise<void> {
  const now = await handle.stat();
  if (now.size !== size || (modifiedMs !== undefined && now.mtimeMs !== modifiedMs))
    throw new UsageError(`${file} changed while it was being read. Import it again once it is complete.`);
}

async function firstBytes(source: Source): Promise<Buffer> {
  for await (const bytes of bytesOf(source)) return bytes;
  return Buffer.alloc(0);
}

function unreadable(file: string, cause: unknown): UsageError {
  return new UsageError(`${file} cannot be read: ${messageOf(cause)}`, { cause });
}

export function tooLarge({ file, maximumBytes }: Pick<Source, 'file' | 'maximumBytes'>): UsageError {
  const maximum = maximumBytes.toLocaleString('en-US');
  return new UsageError(`${file} unpacks to more than ${maximum} bytes. Split it into several files.`);
}

/** The bytes of the file, unpacked; an error if they are not those of the file that was opened first. */
export async function* bytesOf(source: Source): AsyncGenerator<Buffer> {
  source.bytesRead = 0;
  let unpacked = 0;
  try {
    await using handle = await open(source.file);
    await requireUnchanged(source, handle);
    // From the start even if it is a descriptor (/dev/fd), whose position some systems keep.
    const file = handle.createReadStream({ start: 0, highWaterMark: 256 * 1024, autoClose: false });
    file.on('data', (chunk) => {
      source.bytesRead += chunk.length;
    });
    // An error destroys both streams, and the loop over the last one throws it.
    const bytes = source.isCompressed ? pipeline(file, createGunzip(), () => undefined) : file;
    for await (const chunk of bytes) {
      unpacked += chunk.length;
      if (unpacked > source.maximumBytes) throw tooLarge(source);
      // Neither stream has an encoding, so their chunks are bytes.
      yield chunk as Buffer;
    }
    await requireUnchanged(source, handle);
  } catch (cause) {
    throw cause instanceof UsageError ? cause : unreadable(source.file, cause);
  }
}

/** Bytes that are not valid text in the source's encoding. */
export class NotInEncoding extends Error {}

/** Small, because V8 keeps a whole piece in memory while any substring of it is in use. */
const pieceBytes = 16 * 1024;

/** The characters of the file, without a byte order mark. */
export async function* textOf(source: Source): AsyncGenerator<string> {
  const decoder = new TextDecoder(source.encoding, { fatal: true });
  const decode = (bytes?: Buffer) => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined });
    } catch (cause) {
      throw new NotInEncoding(source.encoding, { cause });
    }
  };
  for await (const chunk of bytesOf(source))
    for (let at = 0; at < chunk.length; at += pieceBytes) yield decode(chunk.subarray(at, at + pieceBytes));
  yield decode();
}
