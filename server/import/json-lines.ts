import type { Rejection } from './kind.ts';
import { bytesOf } from './source.ts';
import type { RawRow, Source } from './source.ts';

const newline = 0x0a;
/** Enough for a proposal with 500 lines of maximum length. */
export const longestRowBytes = 16 * 1024 * 1024;

/** One JSON document per line; blank lines are skipped. */
export async function* readJsonLines(source: Source): AsyncGenerator<RawRow> {
  let line = 0;
  for await (const text of splitLines(source)) {
    line += 1;
    if (text === undefined) {
      yield tooLong(line);
    } else {
      const json = (line === 1 ? text.replace(/^\uFEFF/, '') : text).trim();
      if (json !== '') yield { line, raw: [json], ...parseJson(json) };
    }
  }
}

export function tooLong(line: number): RawRow {
  const message = `must have at most ${longestRowBytes} bytes`;
  return { line, raw: [], rejections: [{ field: '', code: 'too_long', message }] };
}

export function parseJson(json: string): { value: unknown } | { rejections: Rejection[] } {
  try {
    return { value: JSON.parse(json) };
  } catch (error) {
    // The parser counts lines within the text that it is given.
    const reason = error instanceof Error ? error.message.replace(/ \(line \d+ column \d+\)$/, '') : String(error);
    return { rejections: [{ field: '', code: 'malformed_json', message: `must be a JSON document: ${reason}` }] };
  }
}

/**
 * The lines of a file, undefined for one that is too long for memory. Not node:readline, which also splits at U+2028, a
 * regular character in JSON, and buffers a line of any length.
 */
async function* splitLines(source: Source): AsyncGenerator<string | undefined> {
  let parts: Buffer[] = [];
  let bytes = 0;
  const take = (part: Buffer) => {
    bytes += part.length;
    if (bytes <= longestRowBytes) parts.push(part);
    else parts = [];
  };
  const finish = () => {
    const text = bytes <= longestRowBytes ? Buffer.concat(parts).toString() : undefined;
    parts = [];
    bytes = 0;
    return text;
  };
  for await (const chunk of bytesOf(source)) {
    let rest: Buffer = chunk;
    for (let end = rest.indexOf(newline); end !== -1; end = rest.indexOf(newline)) {
      take(rest.subarray(0, end + 1));
      yield finish();
      rest = rest.subarray(end + 1);
    }
    if (rest.length > 0) take(rest);
  }
  if (bytes > 0) yield finish();
}
