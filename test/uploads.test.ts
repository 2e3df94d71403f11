import { chmod, chown, lstat, mkdir, mkdtemp, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { getSystemErrorName } from 'node:util';
import { describe, expect, test } from 'vitest';
import { writeFile as writeOutput } from '../server/commands/output-file.ts';
import { UploadFiles, writeFresh } from '../server/uploads/files.ts';
import { createTaskQueue, OutOfTime, runShortFirst } from '../server/uploads/task-queue.ts';

const findNone = async () => [];

describe('the folder of uploads', () => {
  const upload = { id: 'an-id', fileName: 'customers.csv' };
  const store = (folder: string) =>
    new UploadFiles(folder).store(upload, Readable.from([Buffer.from('x')]), new AbortController().signal);

  test('is accessible only to its account', async () => {
    const outside = await mkdtemp(join(tmpdir(), 'uploads-'));
    const folder = join(outside, 'uploads');
    await store(folder);
    expect((await lstat(folder)).mode & 0o777).toBe(0o700);
    expect((await lstat(join(folder, 'an-id.csv'))).mode & 0o777).toBe(0o600);
    await chmod(folder, 0o777);
    await new UploadFiles(folder).prune(findNone);
    expect((await lstat(folder)).mode & 0o777).toBe(0o700);
    await rm(outside, { recursive: true });
  });

  test('gets a different name if the name is taken', async () => {
    const outside = await mkdtemp(join(tmpdir(), 'uploads-'));
    const target = await mkdtemp(join(tmpdir(), 'uploads-'));
    const folder = join(outside, 'uploads');
    await symlink(target, folder);
    await store(folder);
    expect(await readdir(target)).toEqual([]);
    expect((await readdir(outside)).length).toBe(2);
    if (process.getuid?.() === 0) {
      const foreign = join(outside, 'foreign');
      await mkdir(foreign);
      await chown(foreign, 65_534, 65_534);
      await store(foreign);
      expect(await readdir(foreign)).toEqual([]);
    }
    await Promise.all([outside, target].map((path) => rm(path, { recursive: true })));
  });

  test('is created once it can be, if it could not be at first', async () => {
    const outside = await mkdtemp(join(tmpdir(), 'uploads-'));
    const parent = join(outside, 'parent');
    await writeFile(parent, 'not a folder');
    const files = new UploadFiles(join(parent, 'uploads'));
    await expect(files.prune(findNone)).rejects.toThrow('parent');
    // The page of an upload does not fail with it.
    expect(await files.hasRejects(upload)).toBe(false);
    await rm(parent);
    await files.prune(findNone);
    expect(await readdir(parent)).toEqual(['uploads']);
    await rm(outside, { recursive: true });
  });

  test('is created again if it was removed', async () => {
    const folder = join(await mkdtemp(join(tmpdir(), 'uploads-')), 'uploads');
    const files = new UploadFiles(folder);
    await files.prune(findNone);
    await rm(folder, { recursive: true });
    await files.store(upload, Readable.from([Buffer.from('x')]), new AbortController().signal);
    expect(await readdir(folder)).toEqual(['an-id.csv']);
    await rm(join(folder, '..'), { recursive: true });
  });

  test('has room for 100 uploads, and for as many files of rejected rows, the oldest of which are removed', async () => {
    const folder = join(await mkdtemp(join(tmpdir(), 'uploads-')), 'uploads');
    await store(folder);
    const nowMs = Date.now();
    for (let index = 0; index < 150; index += 1) {
      const path = join(folder, `${String(index).padStart(3, '0')}.rejected.csv`);
      await writeFile(path, 'x');
      await utimes(path, new Date(nowMs - 60_000 * index), new Date(nowMs - 60_000 * index));
    }
    const files = new UploadFiles(folder);
    await files.prune(findNone, nowMs);
    const left = await readdir(folder);
    expect(left).toHaveLength(101);
    expect(left).toContain('an-id.csv');
    expect(left.toSorted().slice(98, 100)).toEqual(['098.rejected.csv', '099.rejected.csv']);
    const storeOne = (id: string) =>
      files.store({ id, fileName: 'a.csv' }, Readable.from([Buffer.from('x')]), new AbortController().signal);
    for (let index = 1; index < 100; index += 1) await storeOne(`more-${index}`);
    await expect(storeOne('last')).rejects.toThrow('Too many uploads are pending on this server.');
    await rm(join(folder, '..'), { recursive: true });
  });

  test('keeps each file for a day', async () => {
    const folder = join(await mkdtemp(join(tmpdir(), 'uploads-')), 'uploads');
    await store(folder);
    const nowMs = Date.now();
    const ages = { 'younger.csv': -1, 'older.csv': 1, 'younger.rejected.csv': -1, 'older.rejected.csv': 1 };
    for (const [name, minutes] of Object.entries(ages)) {
      const changed = new Date(nowMs - 24 * 3_600_000 - minutes * 60_000);
      await writeFile(join(folder, name), 'x');
      await utimes(join(folder, name), changed, changed);
    }
    await new UploadFiles(folder).prune(findNone, nowMs);
    expect((await readdir(folder)).toSorted()).toEqual(['an-id.csv', 'younger.csv', 'younger.rejected.csv']);
    await rm(join(folder, '..'), { recursive: true });
  });

  test('loses only the files of the uploads that are removed', async () => {
    const folder = join(await mkdtemp(join(tmpdir(), 'uploads-')), 'uploads');
    const [one, other] = [randomUUID(), randomUUID()];
    await store(folder);
    for (const name of [`${one}.csv`, `${one}.rejected.csv`, `${other}.csv`]) await writeFile(join(folder, name), 'x');
    await new UploadFiles(folder).removeFilesOf([one]);
    expect((await readdir(folder)).toSorted()).toEqual([`${other}.csv`, 'an-id.csv'].toSorted());
    await rm(join(folder, '..'), { recursive: true });
  });

  test('accepts no file on a full disk, and says so', async () => {
    const folder = join(await mkdtemp(join(tmpdir(), 'uploads-')), 'uploads');
    const { ENOSPC, EDQUOT } = constants.errno;
    for (const number of [ENOSPC, EDQUOT]) {
      const code = getSystemErrorName(-number);
      const full = Object.assign(new Error(`${code}: write`), { code, errno: -number });
      // As when the file's own write fails: the error ends the pipeline.
      const received = Readable.from(
        (async function* () {
          yield Buffer.from('x');
          throw full;
        })(),
      );
      const stored = new UploadFiles(folder).store(
        { id: code, fileName: 'a.csv' },
        received,
        AbortSignal.timeout(60_000),
      );
      await expect(stored).rejects.toMatchObject({
        code: 'no_space',
        status: 507,
        message: expect.stringContaining('The server has no space left for the file.'),
        cause: full,
      });
      const file = join(folder, 'export.csv');
      const written = writeOutput(file, () => Promise.reject(full));
      await expect(written).rejects.toThrow(`${file} cannot be written (${number === ENOSPC ? 'ENOSPC' : 'EDQUOT'})`);
    }
    await rm(join(folder, '..'), { recursive: true });
  });

  test('reads and overwrites no file through a link', async () => {
    const outside = await mkdtemp(join(tmpdir(), 'uploads-'));
    const [kept, link] = [join(outside, 'kept'), join(outside, 'link')];
    await writeFile(kept, 'kept');
    await symlink(kept, link);
    for (const path of [kept, link]) {
      const [error] = await once(writeFresh(path), 'error');
      expect(['EEXIST', 'ELOOP']).toContain(error.code);
    }
    const files = new UploadFiles(join(outside, 'uploads'));
    await symlink(kept, await files.newRejects(upload));
    const [error] = await once(await files.readRejects(upload), 'error');
    expect(error.code).toBe('ELOOP');
    await rm(outside, { recursive: true });
  });
});

test('the waiting organization that has imported the least is next', async () => {
  let nowMs = 0;
  const take = createTaskQueue(1, () => nowMs);
  const order: string[] = [];
  const finish: (() => void)[] = [];
  const work = (name: string) =>
    take(name, false, async () => {
      order.push(name);
      await new Promise<void>((resolve) => finish.push(resolve));
    });
  const end = async (ms: number) => {
    nowMs += ms;
    finish.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  const round = async (names: string[], lengthsMs: number[]) => {
    order.length = 0;
    const all = names.map(work);
    await new Promise((resolve) => setImmediate(resolve));
    for (const ms of lengthsMs) await end(ms);
    await Promise.all(all);
    return order;
  };
  const first = await round(['greedy', 'greedy', 'greedy', 'small'], [1000, 10, 1000, 1000]);
  expect(first).toEqual(['greedy', 'small', 'greedy', 'greedy']);
  // Imports more than an hour ago no longer count.
  nowMs += 3_600_001;
  const second = await round(['greedy', 'small', 'small', 'greedy'], [10, 500, 10, 10]);
  expect(second).toEqual(['greedy', 'small', 'greedy', 'small']);
  nowMs += 3_600_001;
  const third = await round(['greedy', 'greedy', 'small', 'greedy', 'small'], [300, 500, 300, 10, 10]);
  expect(third).toEqual(['greedy', 'small', 'greedy', 'small', 'greedy']);
});

describe('short work', () => {
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const never = new Promise<never>(() => undefined);

  test('never waits for long work, no matter how many organizations have some', async () => {
    const take = createTaskQueue(3);
    const started: string[] = [];
    const long = (name: string) =>
      void take(name, true, async () => {
        started.push(name);
        return never;
      });
    for (const name of ['a', 'b', 'c', 'd']) long(name);
    await settled();
    expect(started).toEqual(['a', 'b']);
    for (let count = 0; count < 5; count += 1) expect(await take('e', false, async () => count)).toBe(count);
    await settled();
    expect(started).toEqual(['a', 'b']);
  });

  test('takes every free slot', async () => {
    const take = createTaskQueue(3);
    let running = 0;
    for (const name of ['a', 'b', 'c', 'd'])
      void take(name, false, async () => {
        running += 1;
        return never;
      });
    await settled();
    expect(running).toBe(3);
  });

  test('starts over as long work if it takes too long, in turn with the other long work', async () => {
    const take = createTaskQueue(2);
    let end: () => void = () => undefined;
    const other = take('a', true, () => new Promise<void>((resolve) => (end = resolve)));
    const tries: boolean[] = [];
    let wasShort = false;
    const work = async (isLong: boolean) => {
      tries.push(isLong);
      if (!isLong) throw new OutOfTime();
      return 'done';
    };
    const checked = runShortFirst(take, 'b', work, () => (wasShort = true));
    await settled();
    expect(tries).toEqual([false]);
    end();
    await other;
    expect([await checked, tries, wasShort]).toEqual(['done', [false, true], false]);
    await runShortFirst(
      take,
      'b',
      async (isLong) => void tries.push(isLong),
      () => (wasShort = true),
    );
    expect([tries, wasShort]).toEqual([[false, true, false], true]);
    const failing = async (isLong: boolean) => {
      tries.push(isLong);
      throw new Error('broken');
    };
    await expect(runShortFirst(take, 'b', failing, () => undefined)).rejects.toThrow('broken');
    expect(tries).toHaveLength(4);
  });
});
