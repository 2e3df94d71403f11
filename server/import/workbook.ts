/** The rows of the first visible sheet of an Excel workbook (Office Open XML, ECMA-376). */
import { Unzip, UnzipInflate } from 'fflate';
import { UsageError } from '../config.ts';
import { readSheet } from './sheet.ts';
import { bytesOf, maximumColumns, tooLarge } from './source.ts';
import type { Source, TableRecord } from './source.ts';

/** All cells of a workbook are held in memory. */
const maximum = { bytes: 20_000_000, unpackedBytes: 100_000_000 };
const batchRows = 1000;
/** Small, because each piece may unpack to a thousand times its size. */
const pieceBytes = 16 * 1024;

export async function* readWorkbook(source: Source): AsyncGenerator<TableRecord[]> {
  const { file, size } = source;
  if (size > maximum.bytes)
    throw new UsageError(`${file} is larger than ${maximum.bytes / 1_000_000} MB. Save the sheet as CSV.`);
  const { sheets, rows, width, widest } = await unpack(source)
    .then(readSheet)
    .catch((cause: unknown) => notAWorkbook(file, cause));
  source.sheets = sheets;
  if (width > maximumColumns)
    throw new UsageError(
      `${file} has a value in ${widest}, but may have only ${maximumColumns} columns. Delete the columns to the right of the table.`,
    );
  const columns = [...Array.from({ length: width }).keys()];
  for (let at = 0; at < rows.length; at += batchRows)
    yield rows
      .slice(at, at + batchRows)
      .map(({ line, cells }) => ({ line, cells: columns.map((column) => cells[column] ?? '') }));
}

/** Files of other kinds, such as an OpenDocument spreadsheet (.ods) or a Numbers document, and damaged ones. */
function notAWorkbook(file: string, cause: unknown): never {
  if (cause instanceof UsageError) throw cause;
  const sentence = `${file} is not an Excel workbook that can be read. Save it as an Excel workbook (.xlsx), or its sheet as CSV in UTF-8.`;
  throw new UsageError(sentence, { cause });
}

/** The XML parts of the file by name, within bounds. */
async function unpack(source: Source): Promise<Map<string, Buffer>> {
  const parts = new Map<string, Uint8Array[]>();
  let bytes = 0;
  let failure: Error | undefined;
  const unzip = new Unzip((entry) => {
    if (!/\.xml(?:\.rels)?$/.test(entry.name)) return;
    const chunks: Uint8Array[] = [];
    parts.set(entry.name, chunks);
    entry.ondata = (error, chunk) => {
      failure ??= error ?? undefined;
      bytes += chunk?.length ?? 0;
      if (chunk) chunks.push(chunk);
    };
    entry.start();
  });
  unzip.register(UnzipInflate);
  for await (const chunk of bytesOf(source))
    for (let at = 0; at < chunk.length; at += pieceBytes) {
      unzip.push(chunk.subarray(at, at + pieceBytes));
      if (failure) throw failure;
      if (bytes > maximum.unpackedBytes) throw tooLarge({ ...source, maximumBytes: maximum.unpackedBytes });
    }
  return new Map([...parts].map(([name, chunks]) => [name, Buffer.concat(chunks)]));
}
