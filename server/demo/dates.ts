/** Shifts the dates in the demo's files by whole days, so that the times of day stay the same. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const dayMs = 86_400_000;
/** The midnight before which everything in the files happened; only offers still open expire after it. */
const filesEndMs = Date.parse('2026-03-01T00:00:00.000Z');
const timestamps = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;

/** The text with its dates shifted, so that the last day in it becomes the day before `nowMs`. */
export function moveDates(text: string, nowMs: number): string {
  const shiftMs = Math.floor((nowMs - filesEndMs) / dayMs) * dayMs;
  return text.replaceAll(timestamps, (time) => new Date(Date.parse(time) + shiftMs).toISOString());
}

/** Keeps the shifted file until `work` has finished. */
export async function withMovedDates<T>(file: string, nowMs: number, work: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'proposal-api-demo-'));
  try {
    const moved = join(folder, basename(file));
    await writeFile(moved, moveDates(await readFile(file, 'utf8'), nowMs));
    return await work(moved);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
