/** The lines of a backup, read and counted. */
import type { Readable } from 'node:stream';
import { UsageError } from '../config.ts';

/** In bytes. The largest row is an upload's, with the first rows of its file. */
const longestLine = 64 * 1024 * 1024;
/** After the rows of a table. */
export const endOfTable = '\\.';

export async function nextLine(lines: AsyncIterator<string, undefined>): Promise<string> {
  const { value, done } = await lines.next();
  if (done) throw new UsageError('the backup is truncated; nothing was restored');
  return value;
}

/** A write for each row would cost more than the row itself. */
const blockLength = 64 * 1024;

/** A table's rows, many to a block; `count` receives the number in each block. */
export async function* rowsOf(
  lines: AsyncIterator<string, undefined>,
  count: (rows: number) => void,
): AsyncGenerator<string> {
  let [block, rows] = ['', 0];
  for (let line = await nextLine(lines); line !== endOfTable; line = await nextLine(lines)) {
    block += `${line}\n`;
    rows += 1;
    if (block.length < blockLength) continue;
    yield block;
    count(rows);
    [block, rows] = ['', 0];
  }
  if (block !== '') yield block;
  count(rows);
}

export function linesIn(block: Buffer): number {
  let lines = 0;
  for (let end = block.indexOf(10); end !== -1; end = block.indexOf(10, end + 1)) lines += 1;
  return lines;
}

/** Only `\n` ends a line: a row may contain Unicode's other line separators. */
export async function* linesOf(stream: Readable): AsyncGenerator<string> {
  let rest: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream) {
      // A zlib stream without an encoding yields Buffers.
      const bytes = chunk as Buffer;
      let start = 0;
      for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
        yield Buffer.concat([...rest, bytes.subarray(start, end)]).toString('utf8');
        [rest, size, start] = [[], 0, end + 1];
      }
      rest.push(bytes.subarray(start));
      size += bytes.length - start;
      if (size > longestLine) throw new UsageError('this is not a Proposal API backup file: a line is too long');
    }
  } catch (error) {
    const code: unknown = Reflect.get(Object(error), 'code');
    if (code === 'Z_BUF_ERROR') throw new UsageError('the backup is truncated; nothing was restored', { cause: error });
    if (String(code).startsWith('Z_'))
      throw new UsageError('this is not a Proposal API backup file, or it is damaged; nothing was restored', {
        cause: error,
      });
    throw error;
  }
}
