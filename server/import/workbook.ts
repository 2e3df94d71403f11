/** The rows of the first visible sheet of an Excel workbook. */
import { createReadStream } from 'node:fs';
import { Unzip, UnzipInflate, zipSync } from 'fflate';
import { UsageError } from '../config.ts';
import { tooLarge } from './source.ts';
import type { Cell, Source, TableRecord } from './source.ts';

/** A whole workbook is held in memory, with several objects for each cell. */
const maximum = { bytes: 20_000_000, unpackedBytes: 100_000_000 };

export async function* readWorkbook(source: Source): AsyncGenerator<TableRecord[]> {
  const { file, size } = source;
  if (size > maximum.bytes)
    throw new UsageError(`${file} is larger than ${maximum.bytes / 1_000_000} MB. Save the sheet as CSV.`);
  const parts = await unpack(file);
  source.sheets = [...parts.keys()].filter((name) => /^xl\/worksheets\/[^/]+\.xml$/.test(name)).length;
  source.bytesRead = size;
  // Loaded only when needed: most files are CSV.
  const { readSheet } = await import('read-excel-file/node');
  const part = (name: string) => String(parts.get(`xl/${name}`));
  const percentages = percentageStyles(part('styles.xml'));
  const spelled = [...parts].map(([name, bytes]) => [name, spelledForLibrary(bytes, percentages)] as const);
  // Packed again, because the library allocates whatever size an archive claims.
  const packed = Buffer.from(zipSync(Object.fromEntries(spelled), { level: 0 }));
  const table = firstTable(part('workbook.xml'), part('_rels/workbook.xml.rels'));
  const rows = await readSheet(packed, table).catch((cause: unknown) => {
    throw notAWorkbook(file, cause);
  });
  yield rows.map((cells, index) => ({ line: index + 1, cells: cells.map(cellOf) }));
}

/** The number of the first sheet with cells that is not hidden; 1 if there is none. */
function firstTable(workbook: string, relations: string): number {
  const sheets = workbook.match(/<(?:\w+:)?sheet\s(?:"[^"<]*"|'[^'<]*'|[^<>"'])*>/g) ?? [];
  // A chart may have a sheet of its own.
  const charts = (relations.match(/<(?:\w+:)?Relationship\s[^<>]*>/g) ?? []).filter((one) =>
    /\/chartsheet["']/.test(one),
  );
  const chartIds = new Set(charts.map((chart) => /\sId=["']([^"']*)/.exec(chart)?.[1]));
  const isTable = (sheet: string) =>
    !/\sstate=.(?:hidden|veryHidden)\b/.test(sheet) && !chartIds.has(/:id=["']([^"']*)/.exec(sheet)?.[1]);
  return Math.max(1, sheets.findIndex(isTable) + 1);
}

function notAWorkbook(file: string, cause: unknown): UsageError {
  // Such as an OpenDocument spreadsheet (.ods), a Numbers document, or a damaged file.
  const sentence = `${file} is not an Excel workbook that can be read. Save it as an Excel workbook (.xlsx), or its sheet as CSV in UTF-8.`;
  return new UsageError(sentence, { cause });
}

/** The XML parts of the file by name, within bounds. */
async function unpack(file: string): Promise<Map<string, Buffer>> {
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
  // Small pieces, because each may unpack to a thousand times its size.
  for await (const chunk of createReadStream(file, { start: 0, highWaterMark: 16 * 1024 })) {
    try {
      unzip.push(chunk as Buffer);
    } catch (cause) {
      throw notAWorkbook(file, cause);
    }
    if (failure) throw notAWorkbook(file, failure);
    if (bytes > maximum.unpackedBytes) throw tooLarge({ file, maximumBytes: maximum.unpackedBytes });
  }
  return new Map([...parts].map(([name, chunks]) => [name, Buffer.concat(chunks)]));
}

/**
 * The library reads cells whose formula has failed as empty, but the error they contain as text; percentages as fractions;
 * knows years from 1904 only by `1`, which LibreOffice writes as `true`; and misreads references to characters outside the
 * BMP.
 */
function spelledForLibrary(part: Buffer, percentages: ReadonlySet<string>): Buffer {
  const isRead = ![' t="e"', ' date1904="true"', '&#'].some((text) => part.includes(text));
  if (isRead && percentages.size === 0) return part;
  const spelled = part
    .toString('latin1')
    .replaceAll(/(<(?:\w+:)?c\s[^<>]*)t="e"/g, '$1t="str"')
    .replaceAll(styledNumber, (whole: string, ...[cell = '', style = '', before = '', value = '']: string[]) =>
      percentages.has(style) ? `${cell.replace(' t="n"', '')} t="str">${before}${percentOf(value)}` : whole,
    )
    .replace(' date1904="true"', ' date1904="1"')
    .replaceAll(farReference, decodeReference);
  return Buffer.from(spelled, 'latin1');
}

/** A number with a style: the start of its cell's tag, the style, a formula, and its value. */
const styledNumber =
  /(<(?:\w+:)?c(?=\s)(?![^<>]*\st="(?!n"))[^<>]*\ss="(\d+)"[^<>]*)>((?:<(?:\w+:)?f(?:\s[^<>]*)?(?:\/>|>[^<]*<\/(?:\w+:)?f>))?<(?:\w+:)?v>)([^<]+)/g;

/** `0.07` → `7%`, without the digits that a multiplication in binary adds. */
const percentOf = (value: string) => `${Number((Number(value) * 100).toPrecision(15))}%`;

/** The styles, by their number, that show 0.19 as 19%. */
function percentageStyles(styles: string): ReadonlySet<string> {
  const formats = styles.match(/<(?:\w+:)?numFmt\s[^<>]*>/g) ?? [];
  // A percent sign that is quoted or escaped is only text.
  const shown = formats.filter((format) => /formatCode="[^"]*%/.test(format.replaceAll(/&quot;.*?&quot;|\\./g, '')));
  const isPercentage = new Set(['9', '10', ...shown.map(formatIn)]);
  const [, cellFormats = ''] = styles.split(/<\/?(?:\w+:)?cellXfs\b/);
  const cells = cellFormats.match(/<(?:\w+:)?xf\s[^<>]*>/g) ?? [];
  return new Set([...cells.keys()].filter((index) => isPercentage.has(formatIn(cells[index] ?? ''))).map(String));
}

const formatIn = (tag: string) => /\snumFmtId="(\d+)"/.exec(tag)?.[1] ?? '';

/** To characters outside the BMP, and to few others: a file may spell every accented letter as a reference. */
const farReference = /&#(x0*(?:10|[1-9a-f])[\da-f]{4}|0*(?:[6-9]\d{4}|[1-9]\d{5,6}));/gi;

/** A character outside the BMP instead of a reference to it, as the bytes of its UTF-8. */
function decodeReference(reference: string, code: string): string {
  const point = Number(`0${code}`);
  const isOutsideBmp = point > 0xffff && point <= 0x10_ffff;
  return isOutsideBmp ? Buffer.from(String.fromCodePoint(point)).toString('latin1') : reference;
}

function cellOf(cell: unknown): Cell {
  if (typeof cell === 'number' || typeof cell === 'string') return cell;
  if (typeof cell === 'boolean') return cell ? 'TRUE' : 'FALSE';
  return cell instanceof Date ? printTime(wholeSecond(cell).toISOString()) : '';
}

/** A cell with only a time of day is a fraction of the day before the first one. */
const printTime = (time: string) =>
  time.startsWith('1899-12-30T')
    ? time.slice('1899-12-30T'.length).replace(/(?::00)?(?:\.000)?Z$/, '')
    : time.replace('T00:00:00.000Z', '');

/** Days are stored as fractions, which the library rounds down: 8:30 can arrive as 8:29:59.999. */
const wholeSecond = (time: Date) => (time.getUTCMilliseconds() === 999 ? new Date(time.getTime() + 1) : time);
