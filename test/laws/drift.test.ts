/** The contract and the server cannot drift apart: the compiler stands between them. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = new URL('../..', import.meta.url).pathname;
let copy: string;

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'proposal-api-drift-'));
  for (const part of ['contract', 'server', 'client', 'package.json', 'tsconfig.json'])
    await cp(join(root, part), join(copy, part), { recursive: true });
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  const settings = JSON.parse(await readFile(join(copy, 'tsconfig.json'), 'utf8'));
  await writeFile(
    join(copy, 'tsconfig.json'),
    JSON.stringify({ ...settings, include: ['contract', 'server', 'client'] }),
  );
});
afterAll(() => rm(copy, { recursive: true, force: true }));

async function complaints(): Promise<string> {
  const compiler = join(root, 'node_modules', '.bin', 'tsc');
  return promisify(execFile)(compiler, ['--noEmit', '--pretty', 'false'], { cwd: copy }).then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  );
}

async function changed<T>(file: string, from: string, to: string, work: () => Promise<T>): Promise<T> {
  const path = join(copy, file);
  const before = await readFile(path, 'utf8');
  expect(before).toContain(from);
  await writeFile(path, before.replace(from, to));
  try {
    return await work();
  } finally {
    await writeFile(path, before);
  }
}

describe('a field that is added to the contract', () => {
  test('nothing is wrong as it stands', async () => {
    expect(await complaints()).toBe('');
  });

  const records = {
    customers: "id: fields.id('customer'),",
    items: "id: fields.id('item'),",
    proposals: "id: fields.id('proposal'),",
  };
  for (const [resource, anchor] of Object.entries(records)) {
    test(`does not compile until the server delivers it: ${resource}`, async () => {
      const text = await changed(`contract/${resource}.ts`, anchor, `${anchor} loyaltyPoints: z.int(),`, complaints);
      expect(text).toContain(`server/api/${resource}.ts`);
      expect(text).toContain('loyaltyPoints');
    });
  }

  test('an operation that is added does not compile until it is kept', async () => {
    const text = await changed(
      'contract/items.ts',
      '  get: {',
      "  peek: { method: 'GET', path: '/items/peek', responses: { 200: item } },\n  get: {",
      complaints,
    );
    expect(text).toContain('server/api/items.ts');
  });
});
