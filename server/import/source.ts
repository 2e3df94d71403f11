/** A file of rows, as it stands on the disk: read as a stream, whatever its size. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { UsageError } from '../config.ts';
import type { Refusal } from './kind.ts';

/** A row as it was read; `line` is where it starts, from 1, `offset` the bytes read up to its end. */
export type RawRow = { line: number; offset: number } & ({ value: unknown } | { refusals: Refusal[] });

type Format = 'csv' | 'json-lines';
export type Source = { file: string; format: Format; size: number };

const formats: Readonly<Record<string, Format>> = { '.csv': 'csv', '.jsonl': 'json-lines', '.ndjson': 'json-lines' };

export async function inspectFile(file: string): Promise<Source> {
  const format = formats[extname(file).toLowerCase()];
  if (!format) throw new UsageError(`${file}: the name must end in ${Object.keys(formats).join(', ')}`);
  const found = await stat(file).catch((cause: unknown) => {
    throw new UsageError(`${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  });
  if (!found.isFile()) throw new UsageError(`${file} is not a file`);
  return { file, format, size: found.size };
}

/**
 * Reads the file through once: bytes of another encoding would be stored as the wrong letters, and half a file imported
 * is worse than none.
 */
export async function refuseOtherEncodings({ file }: Source): Promise<void> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const chunk of createReadStream(file)) decoder.decode(chunk, { stream: true });
    decoder.decode();
  } catch (cause) {
    if (cause instanceof TypeError)
      throw new UsageError(`${file} is not UTF-8: save it as UTF-8 (in Excel, "CSV UTF-8")`, { cause });
    throw new UsageError(`${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}
