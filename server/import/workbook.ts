/** The rows of the first sheet of an Excel workbook. */
import { createReadStream } from 'node:fs';
import { Unzip, UnzipInflate } from 'fflate';
import { UsageError } from '../config.ts';
import { tooLarge } from './source.ts';
import type { Cell, Source, TableRecord } from './source.ts';

/** A workbook is in memory as a whole, with several objects for each cell. */
const maximum = { bytes: 20_000_000, unpackedBytes: 100_000_000 };

export async function* readWorkbook(source: Source): AsyncGenerator<TableRecord[]> {
  const { file, size } = source;
  if (size > maximum.bytes)
    throw new UsageError(`${file} is larger than ${maximum.bytes / 1_000_000} MB. Save the sheet as CSV.`);
  source.sheets = await countSheets(file);
  source.bytesRead = size;
  // Loaded when it is needed: most files are CSV.
  const { readSheet } = await import('read-excel-file/node');
  const rows = await readSheet(file).catch((cause: unknown) => {
    throw notAWorkbook(file, cause);
  });
  yield rows.map((cells, index) => ({ line: index + 1, cells: cells.map(cellOf) }));
}

function notAWorkbook(file: string, cause: unknown): UsageError {
  const sentence = `${file} is an Excel workbook or a ZIP archive that cannot be read. Save the sheet as "CSV UTF-8".`;
  return new UsageError(sentence, { cause });
}

/** Unpacks the file, within bounds, without keeping anything: the sizes that an archive claims may be wrong. */
async function countSheets(file: string): Promise<number> {
  let [bytes, sheets] = [0, 0];
  let failure: Error | undefined;
  const unzip = new Unzip((entry) => {
    if (!/\.xml(?:\.rels)?$/.test(entry.name)) return;
    if (/^xl\/worksheets\/[^/]+\.xml$/.test(entry.name)) sheets += 1;
    entry.ondata = (error, chunk) => {
      failure ??= error ?? undefined;
      bytes += chunk?.length ?? 0;
    };
    entry.start();
  });
  unzip.register(UnzipInflate);
  // Small pieces, because each may unpack to a thousand times its size.
  for await (const chunk of createReadStream(file, { highWaterMark: 16 * 1024 })) {
    try {
      unzip.push(chunk as Buffer);
    } catch (cause) {
      throw notAWorkbook(file, cause);
    }
    if (failure) throw notAWorkbook(file, failure);
    if (bytes > maximum.unpackedBytes) throw tooLarge({ file, maximumBytes: maximum.unpackedBytes });
  }
  return sheets;
}

function cellOf(cell: unknown): Cell {
  if (typeof cell === 'number' || typeof cell === 'string') return cell;
  if (typeof cell === 'boolean') return cell ? 'TRUE' : 'FALSE';
  return cell instanceof Date ? cell.toISOString().replace('T00:00:00.000Z', '') : '';
}
