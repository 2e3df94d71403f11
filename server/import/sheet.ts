/** The cells of the first visible sheet of an Excel workbook (ECMA-376, part 1, chapter 18). */
import { isBlank } from '../../contract/text.ts';
import { notCalculated } from './losses.ts';
import { builtInFormat, displayedNumber, formatOf } from './number-formats.ts';
import type { FirstYear, NumberFormat } from './number-formats.ts';
import type { Cell } from './source.ts';
import { elementsOf, readXml } from './xml.ts';

/** Empty cells are missing. */
type Row = { line: number; cells: Cell[] };
type Sheet = {
  /** How many sheets with cells the workbook has. */
  sheets: number;
  /** Those with cells. */
  rows: Row[];
  /** How many columns there are, and a cell in the last one. */
  width: number;
  widest: string;
};
type Book = { texts: readonly string[]; formats: readonly NumberFormat[]; firstYear: FirstYear };

/** Reads the XML parts of a workbook, by name. Throws an Error if they are something else. */
export function readSheet(parts: ReadonlyMap<string, Buffer>): Sheet {
  const part = (name: string) => {
    const bytes = parts.get(name);
    if (!bytes) throw new Error(`${name} is missing`);
    return bytes;
  };
  const relations = relationsIn(part('xl/_rels/workbook.xml.rels'));
  const related = (type: string) => relations.filter((one) => one.type === type).map(({ target }) => part(target));
  const book = elementsOf(part('xl/workbook.xml'), 'workbookPr', 'sheet');
  const sheets = book.flatMap(({ attributes }) => {
    const id = Object.keys(attributes).find((key) => key.endsWith(':id')) ?? '';
    const relation = relations.find((one) => one.id === attributes[id]);
    // A chart may have a sheet of its own.
    return relation?.type === 'worksheet'
      ? { ...relation, isVisible: (attributes.state ?? 'visible') === 'visible' }
      : [];
  });
  const sheet = sheets.find(({ isVisible }) => isVisible) ?? sheets[0];
  const startsIn1904 = book.some(({ attributes }) => /^(?:1|true)$/.test(attributes.date1904 ?? ''));
  const cells = new Cells({
    texts: related('sharedStrings').flatMap(textsIn),
    formats: related('styles').flatMap(formatsIn),
    firstYear: startsIn1904 ? 1904 : 1900,
  });
  readXml(part(sheet?.target ?? 'a worksheet'), cells);
  return { sheets: sheets.length, rows: cells.rows, width: cells.width, widest: cells.widest };
}

/** The target `worksheets/sheet1.xml` is the part `xl/worksheets/sheet1.xml`. */
const relationsIn = (part: Buffer) =>
  elementsOf(part, 'Relationship').map(({ attributes: { Id: id, Type: type = '', Target: target = '' } }) => ({
    id,
    type: type.slice(type.lastIndexOf('/') + 1),
    target: target.startsWith('/') ? target.slice(1) : `xl/${target}`,
  }));

/** The format of each style of cells, by its index. */
function formatsIn(part: Buffer): NumberFormat[] {
  const codes = new Map(
    elementsOf(part, 'numFmt').map(({ attributes: { numFmtId, formatCode = '' } }) => [numFmtId, formatCode]),
  );
  const styles = elementsOf(part, 'cellXfs', 'xf');
  // Those before are not styles of cells.
  const cellStyles = styles.slice(styles.findIndex(({ name }) => name === 'cellXfs') + 1);
  return cellStyles.map(({ attributes: { numFmtId = '0' } }) => {
    const code = codes.get(numFmtId);
    return code === undefined ? builtInFormat(Number(numFmtId)) : formatOf(code);
  });
}

/** Most texts are stored once, and cells have their index. */
function textsIn(part: Buffer): string[] {
  const texts: string[] = [];
  const collector = new TextCollector();
  readXml(part, {
    open: ({ name }) => collector.open(name),
    close(name, text) {
      collector.close(name, text);
      if (name === 'si') texts.push(collector.take());
    },
  });
  return texts;
}

/** Collects the text of the elements `v` and `t`, except phonetic hints, which repeat it. */
class TextCollector {
  #text = '';
  #isHint = false;

  open(name: string): void {
    this.#isHint ||= name === 'rPh';
  }

  close(name: string, text: string): void {
    if ((name === 'v' || name === 't') && !this.#isHint) this.#text += text;
    this.#isHint &&= name !== 'rPh';
  }

  /** The text since the last call. */
  take(): string {
    const text = decodeEscapes(this.#text);
    this.#text = '';
    return text;
  }
}

/** `_x000D_` is a character that XML cannot contain, and `_x005F_` a `_` that would be read as the start of one. */
const decodeEscapes = (text: string) =>
  text.replaceAll(/_x([\dA-F]{4})_/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

/** Reads the cells of a sheet; neither rows nor cells need to say where they are. */
class Cells {
  readonly rows: Row[] = [];
  width = 0;
  widest = '';
  readonly #book: Book;
  readonly #text = new TextCollector();
  #isData = false;
  #row: Row = { line: 0, cells: [] };
  #column = -1;
  #cell: Readonly<Record<string, string>> = {};
  #isFormula = false;

  constructor(book: Book) {
    this.#book = book;
  }

  readonly open: Parameters<typeof readXml>[1]['open'] = ({ name, attributes }) => {
    this.#isData ||= name === 'sheetData';
    if (!this.#isData) return;
    this.#text.open(name);
    this.#isFormula ||= name === 'f';
    if (name === 'row') {
      this.#row = { line: Number(attributes.r ?? this.#row.line + 1), cells: [] };
      this.#column = -1;
    } else if (name === 'c') {
      this.#cell = attributes;
      this.#column = attributes.r === undefined ? this.#column + 1 : columnOf(attributes.r);
      this.#isFormula = false;
    }
  };

  readonly close = (name: string, text: string): void => {
    if (!this.#isData) return;
    this.#isData = name !== 'sheetData';
    this.#text.close(name, text);
    if (name === 'c') this.#add(this.#valueOf(this.#text.take()));
    if (name === 'row' && this.#row.cells.length > 0) this.rows.push(this.#row);
  };

  #add(value: Cell): void {
    if (isBlank(value)) return;
    this.#row.cells[this.#column] = value;
    if (this.#column < this.width) return;
    this.width = this.#column + 1;
    this.widest = this.#cell.r ?? `line ${this.#row.line}`;
  }

  #valueOf(value: string): Cell {
    const { t: type = 'n', s: style = '0' } = this.#cell;
    const { texts, formats, firstYear } = this.#book;
    if (type === 's') return textAt(texts, value);
    if (type === 'b') return value === '1' || value === 'true' ? 'TRUE' : 'FALSE';
    if (type === 'd') return value.replace(/T00:00:00(?:\.0+)?Z?$/, '');
    if (type !== 'n') return value;
    // A formula may result in an empty text, but not in an empty number.
    if (value.trim() === '') return this.#isFormula ? notCalculated : '';
    return displayedNumber(value, formats[Number(style)] ?? 'number', firstYear);
  }
}

function textAt(texts: readonly string[], index: string): string {
  const text = texts[Number(index)];
  if (text === undefined) throw new Error(`there is no text ${index}`);
  return text;
}

/** `C7` → 2 */
function columnOf(reference: string): number {
  const [letters = ''] = /^[A-Z]{1,3}(?=[1-9])/.exec(reference) ?? [];
  if (letters === '') throw new Error(`${reference} is not a cell`);
  return [...letters].reduce((column, letter) => column * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}
