import { createReadStream } from 'node:fs';
import type { Refusal } from './kind.ts';
import type { RawRow, Source } from './source.ts';

const newline = 0x0a;
/** Room for a proposal of 500 lines that are as long as they can be. */
const longestLineBytes = 16 * 1024 * 1024;

/** A JSON document a line; a blank line is no row. */
export async function* readJsonLines({ file }: Source): AsyncGenerator<RawRow> {
  let line = 0;
  let offset = 0;
  for await (const { text, bytes } of splitLines(file)) {
    line += 1;
    offset += bytes;
    if (text === undefined) {
      const message = `must have at most ${longestLineBytes} bytes`;
      yield { line, offset, refusals: [{ field: '', code: 'too_long', message }] };
    } else {
      const json = (line === 1 ? text.replace(/^\uFEFF/, '') : text).trim();
      if (json !== '') yield { line, offset, ...parse(json) };
    }
  }
}

function parse(json: string): { value: unknown } | { refusals: Refusal[] } {
  try {
    return { value: JSON.parse(json) };
  } catch (error) {
    // It counts lines within the text that it was given: always one.
    const reason = error instanceof Error ? error.message.replace(/ \(line 1 column \d+\)$/, '') : String(error);
    return { refusals: [{ field: '', code: 'malformed_json', message: `must be a JSON document: ${reason}` }] };
  }
}

/**
 * The lines of a file, without what is too long to be held (`text` is then undefined). Not node:readline, which also
 * splits at U+2028, a letter like any other in JSON, and holds a line of any length.
 */
async function* splitLines(file: string): AsyncGenerator<{ text: string | undefined; bytes: number }> {
  let parts: Buffer[] = [];
  let bytes = 0;
  const take = (part: Buffer) => {
    bytes += part.length;
    if (bytes <= longestLineBytes) parts.push(part);
    else parts = [];
  };
  const finish = () => {
    const whole = { text: bytes <= longestLineBytes ? Buffer.concat(parts).toString() : undefined, bytes };
    parts = [];
    bytes = 0;
    return whole;
  };
  for await (const chunk of createReadStream(file)) {
    let rest: Buffer = chunk;
    for (let end = rest.indexOf(newline); end !== -1; end = rest.indexOf(newline)) {
      take(rest.subarray(0, end + 1));
      yield finish();
      rest = rest.subarray(end + 1);
    }
    take(rest);
  }
  if (bytes > 0) yield finish();
}
