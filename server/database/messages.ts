/**
 * The two messages of PostgreSQL's protocol that cost the most: the execution of a prepared statement, and a row. pg encodes
 * and decodes one value at a time, and writes one message at a time, which takes twice as long.
 */
import type pg from 'pg';

/** Where an execution is encoded before it is copied: allocating its greatest possible size each time would cost more. */
const scratch = Buffer.allocUnsafeSlow(64 * 1024);
const [bind, execute, sync] = ['B', 'E', 'S'].map((type) => type.charCodeAt(0)) as [number, number, number];
/** Type and length. The length includes its own four bytes, but not the type. */
const headBytes = 5;

/** Executes a statement that the connection has prepared, with parameters and rows as text, and ends the request. */
export function executionOf(name: string, parameters: readonly (string | null)[]): Buffer {
  // A character takes up to three bytes.
  const most = parameters.reduce((sum, text) => sum + 4 + (text?.length ?? 0) * 3, 64 + name.length);
  const bytes = most <= scratch.length ? scratch : Buffer.allocUnsafe(most);
  // The portal has no name. The statement's is ASCII.
  let end = headBytes;
  bytes[end] = 0;
  end += 1;
  end += bytes.write(name, end, 'latin1');
  bytes[end] = 0;
  // No formats, which means text.
  end = writeInt16(bytes, 0, end + 1);
  end = writeInt16(bytes, parameters.length, end);
  for (const text of parameters) {
    const start = end + 4;
    const length = text === null ? -1 : bytes.write(text, start);
    writeInt32(bytes, length, end);
    end = start + Math.max(length, 0);
  }
  end = writeInt16(bytes, 0, end);
  writeHead(bytes, bind, 0, end);
  // Again no portal name, and no limit on rows.
  const executed = end + headBytes + 5;
  bytes.fill(0, end, executed);
  writeHead(bytes, execute, end, executed);
  writeHead(bytes, sync, executed, executed + headBytes);
  return Buffer.from(bytes.subarray(0, executed + headBytes));
}

function writeHead(bytes: Buffer, type: number, start: number, end: number): void {
  bytes[start] = type;
  writeInt32(bytes, end - start - 1, start + 1);
}

function writeInt16(bytes: Buffer, value: number, at: number): number {
  bytes[at] = value >> 8;
  bytes[at + 1] = value;
  return at + 2;
}

function writeInt32(bytes: Buffer, value: number, at: number): void {
  writeInt16(bytes, value >> 16, at);
  writeInt16(bytes, value, at + 2);
}

const dataRow = 'D'.charCodeAt(0);

/** Decodes the rows that a connection receives; pg's own parser gets all other messages. */
export function decodeRows({ connection }: Pick<pg.PoolClient, 'connection'>): void {
  const { stream } = connection;
  const [parse] = stream.listeners('data') as ((bytes: Buffer) => void)[];
  if (!parse) throw new Error('pg does not listen to its connection.');
  /** Since the last complete message. */
  let received: Buffer[] = [];
  let count = 0;
  let needed = headBytes;

  function read(chunk: Buffer): void {
    received.push(chunk);
    count += chunk.length;
    if (count < needed) return;
    const bytes = received.length === 1 ? chunk : Buffer.concat(received, count);
    let [start, parsed] = [0, 0];
    needed = headBytes;
    while (start + headBytes <= count) {
      const end = start + 1 + bytes.readUInt32BE(start + 1);
      if (end > count) needed = end - start;
      if (end > count) break;
      if (bytes[start] === dataRow) {
        if (parsed < start) parse?.(bytes.subarray(parsed, start));
        connection.emit('dataRow', { fields: fieldsOf(bytes, start + headBytes, end), length: end - start });
        parsed = end;
      }
      start = end;
    }
    received = start < count ? [bytes.subarray(start)] : [];
    count -= start;
    if (parsed < start) parse?.(bytes.subarray(parsed, start));
  }
  stream.removeListener('data', parse).on('data', read);
}

/** One list for all rows: the receiver of a row copies its fields. */
const fields: (string | null)[] = [];

/** Most fields are ASCII, so the row is decoded once, and they are parts of its text. */
function fieldsOf(bytes: Buffer, start: number, end: number): readonly (string | null)[] {
  const text = bytes.toString('latin1', start, end);
  fields.length = bytes.readUInt16BE(start);
  let at = start + 2;
  for (let index = 0; index < fields.length; index += 1) {
    const length = bytes.readInt32BE(at);
    at += 4;
    if (length < 0) fields[index] = null;
    else {
      const next = at + length;
      fields[index] = isAscii(bytes, at, next)
        ? text.slice(at - start, next - start)
        : bytes.toString('utf8', at, next);
      at = next;
    }
  }
  return fields;
}

function isAscii(bytes: Buffer, start: number, end: number): boolean {
  let bits = 0;
  for (let at = start; at < end; at += 1) bits |= bytes[at] ?? 0;
  return bits < 128;
}
