/** Rows are read in parts, each within a number of bytes. */
import { expect, test } from 'vitest';
import { TooManyBytes } from '../server/database/statement.ts';
import { inParts } from '../server/records/in-parts.ts';

const mebi = 1024 * 1024;

/** The rows that were yielded, and how many were read at once, for rows of so many bytes. */
async function readParts(bytes: readonly number[]) {
  const parts: number[] = [];
  const ids = bytes.map((_, index) => String(index));
  const read = async (some: readonly string[], mostBytes: number) => {
    const total = some.reduce((sum, id) => sum + (bytes[Number(id)] ?? 0), 0);
    if (total > mostBytes) throw new TooManyBytes();
    parts.push(some.length);
    return [...some];
  };
  const rows: string[] = [];
  for await (const row of inParts(ids, read)) rows.push(row);
  expect(rows).toEqual(ids);
  return parts;
}

test('short rows are read a thousand at a time', async () => {
  expect(await readParts(Array.from({ length: 2500 }, () => 1000))).toEqual([1000, 1000, 500]);
  expect(await readParts([])).toEqual([]);
});

test('longer ones are read fewer at a time, and the longest one by one', async () => {
  expect(await readParts(Array.from({ length: 10 }, () => 5 * mebi))).toEqual([3, 3, 3, 1]);
  expect(await readParts(Array.from({ length: 3 }, () => 20 * mebi))).toEqual([1, 1, 1]);
});

test('a failure of another kind is thrown', async () => {
  const failing = inParts(['0'], () => Promise.reject(new Error('The database is away.')));
  await expect(failing.next()).rejects.toThrow('The database is away.');
});
