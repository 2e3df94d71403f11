import { chmod, lstat, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { uploadFiles, writeFresh } from '../server/uploads/files.ts';
import { createTurns } from '../server/uploads/turns.ts';

describe('the folder of uploads', () => {
  const upload = { id: 'an-id', fileName: 'customers.csv' };
  const store = (folder: string) =>
    uploadFiles(folder).store(upload, Readable.from([Buffer.from('x')]), new AbortController().signal);

  test('is entered by its account alone', async () => {
    const outside = await mkdtemp(join(tmpdir(), 'uploads-'));
    const folder = join(outside, 'uploads');
    await store(folder);
    expect((await lstat(folder)).mode & 0o777).toBe(0o700);
    expect((await lstat(join(folder, 'an-id.csv'))).mode & 0o777).toBe(0o600);
    await chmod(folder, 0o777);
    await uploadFiles(folder).prune();
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
    await Promise.all([outside, target].map((path) => rm(path, { recursive: true })));
  });

  test('has no file overwritten through a link', async () => {
    const outside = await mkdtemp(join(tmpdir(), 'uploads-'));
    const [kept, link] = [join(outside, 'kept'), join(outside, 'link')];
    await writeFile(kept, 'kept');
    await symlink(kept, link);
    for (const path of [kept, link]) {
      const [error] = await once(writeFresh(path), 'error');
      expect(['EEXIST', 'ELOOP']).toContain(error.code);
    }
    await rm(outside, { recursive: true });
  });
});

test('of the waiting organizations, the one that has imported the least is next', async () => {
  let nowMs = 0;
  const take = createTurns(1, () => nowMs);
  const order: string[] = [];
  const finish: (() => void)[] = [];
  const work = (name: string) =>
    take(name, async () => {
      order.push(name);
      await new Promise<void>((resolve) => finish.push(resolve));
    });
  const end = async (ms: number) => {
    nowMs += ms;
    finish.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  const all = [work('greedy'), work('greedy'), work('greedy'), work('small')];
  await end(1000);
  await end(10);
  await end(1000);
  await end(1000);
  await Promise.all(all);
  expect(order).toEqual(['greedy', 'small', 'greedy', 'greedy']);
});
