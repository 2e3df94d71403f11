/** Rows of JSON: one document per line, or the elements of one array. Each is parsed like the body of a request. */
import { maximumBodyBytes, maximumKeys } from '../../contract/limits.ts';
import { Problem } from '../problems/problem.ts';
import { parseJson } from '../text/json.ts';
import type { Entry } from './kind.ts';
import { textOf } from './source.ts';
import type { Source } from './source.ts';

/** The largest row: as many characters as a body may have bytes; a proposal has room for 500 lines of maximum length. */
export type RowBounds = { characters: number; keys: number };
export const flatRow: RowBounds = { characters: maximumBodyBytes, keys: maximumKeys };
export const rowWithLines: RowBounds = { characters: 16 * 1024 * 1024, keys: 10_000 };

/** The row in a text that starts on this line, if it is not blank. */
function rowsOf(text: string, line: number, bounds: RowBounds): Entry[] {
  const json = text.trim();
  if (json === '') return [];
  const start = line + text.slice(0, text.indexOf(json)).split('\n').length - 1;
  if (json.length > bounds.characters) {
    const message = `must have at most ${bounds.characters.toLocaleString('en-US')} characters`;
    return [unreadable(start, 'too_long', message)];
  }
  return [{ line: start, raw: [json], size: json.length, ...readDocument(json, start, bounds) }];
}

/** A row that is rejected without reading its contents. */
export function unreadable(line: number, code: string, message: string): Entry {
  return { line, raw: [], size: 0, value: {}, outcome: [{ field: '', code, message }] };
}

/** `line` is where the document starts in the file. */
export function readDocument(json: string, line: number, { keys }: RowBounds): Pick<Entry, 'value' | 'outcome'> {
  try {
    return { value: parseJson(json, keys) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const message = error.message
      .replace('The body ', '')
      .replace(/(?<=line )\d+(?=, column)/, (ofRow) => String(line + Number(ofRow) - 1));
    const malformed = { field: '', code: String(error.code), message };
    return { value: {}, outcome: [error.errors[0] ?? malformed] };
  }
}

/** A row with another piece of it, unless it is so long that it will be rejected anyway. */
const joined = (row: string, piece: string, { characters }: RowBounds): string =>
  row.length <= 2 * characters ? row + piece : row;

/**
 * Looks only for the ends of documents and leaves the rest to the API's parser: a tokenizer takes ten times as long. Outside
 * an array, every line is a document. Not node:readline, which also splits at U+2028, a regular character in JSON, and
 * buffers a line of any length.
 */
export async function* readJson(source: Source, bounds: RowBounds): AsyncGenerator<Entry[]> {
  const isArray = source.format === 'json-array';
  const marks = isArray ? /["\\[\]{},\n]/g : /\n/g;
  let [row, depth, line, startLine] = ['', 0, 1, 1];
  let [inString, isEscaped] = [false, false];
  for await (const text of textOf(source)) {
    if (text === '') continue;
    const entries: Entry[] = [];
    let start = 0;
    marks.lastIndex = isEscaped ? 1 : 0;
    isEscaped = false;
    for (let found = marks.exec(text); found; found = marks.exec(text)) {
      const { 0: mark, index } = found;
      if (mark === '\n') line += 1;
      if (mark === '"') inString = !inString;
      if (mark === '\\') {
        isEscaped = index + 1 === text.length;
        marks.lastIndex = index + 2;
      }
      if (inString) continue;
      if (mark === ']' || mark === '}') depth -= 1;
      // The array's own commas are at depth 1, and its brackets at depth 0.
      if (!isArray || (mark === ',' && depth === 1) || ((mark === '[' || mark === ']') && depth === 0)) {
        entries.push(...rowsOf(joined(row, text.slice(start, index), bounds), startLine, bounds));
        [row, start, startLine] = ['', index + 1, line];
      }
      if (mark === '[' || mark === '{') depth += 1;
    }
    row = joined(row, text.slice(start), bounds);
    yield entries;
  }
  yield rowsOf(row, startLine, bounds);
  const message = 'is not valid JSON: the array does not end where the file does';
  if (depth !== 0) yield [unreadable(line, 'malformed_json', message)];
}
