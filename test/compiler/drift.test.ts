/** Contract, entities, handlers, client and document cannot drift apart: every kind of drift is detected. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generate } from '../../client/build/generate.ts';
import { generatedOtherwise, groups, published } from './mutations.ts';
import type { Mutation } from './mutations.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
const parts = [
  'contract',
  'server',
  'client',
  'test/client/drift.test.ts',
  'test/client/open.ts',
  'package.json',
  'tsconfig.json',
];
let copy: string;

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'proposal-api-drift-'));
  for (const part of parts) await cp(join(root, part), join(copy, part), { recursive: true });
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  const settings = JSON.parse(await readFile(join(copy, 'tsconfig.json'), 'utf8'));
  await writeFile(
    join(copy, 'tsconfig.json'),
    JSON.stringify({ ...settings, include: ['contract', 'server', 'client', 'test'] }),
  );
});
afterAll(() => rm(copy, { recursive: true, force: true }));

type Change = Pick<Mutation, 'file' | 'from' | 'to'>;

/** Runs `work` while the copy has these changes. */
async function changed<T>(changes: Change[], work: () => Promise<T>): Promise<T> {
  const before = new Map<string, string>();
  try {
    for (const { file, from, to } of changes) {
      const text = await readFile(join(copy, file), 'utf8');
      if (!before.has(file)) before.set(file, text);
      expect(text, file).toContain(from);
      await writeFile(
        join(copy, file),
        text.replace(from, () => to),
      );
    }
    return await work();
  } finally {
    for (const [file, text] of before) await writeFile(join(copy, file), text);
  }
}

type Complaint = { file: string; text: string };

/** The compiler's messages about the copy, each with the line that it refers to. */
async function complaints(): Promise<Complaint[]> {
  const compiler = join(root, 'node_modules', '.bin', 'tsc');
  // Incremental: it rechecks only what the changes affect.
  const words = [
    '--noEmit',
    '--pretty',
    'false',
    '--incremental',
    '--tsBuildInfoFile',
    join(copy, 'types.tsbuildinfo'),
  ];
  const output = await run(compiler, words, { cwd: copy }).then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  );
  const messages = output.split(/\n(?=\S)/).filter((message) => message.trim() !== '');
  return Promise.all(
    messages.map(async (message) => {
      const [, file = '', line = '1'] = /^([^(]+)\((\d+),/.exec(message) ?? [];
      const source = file === '' ? '' : await readFile(join(copy, file), 'utf8');
      return { file, text: `${message}\n${source.split('\n')[Number(line) - 1]}` };
    }),
  );
}

describe('the compiler', () => {
  test('accepts the unchanged code', async () => {
    expect(await complaints()).toEqual([]);
  });

  describe.each(Object.entries(groups))('about %s', (_, mutations) => {
    let found: Complaint[];
    beforeAll(async () => {
      found = await changed(mutations, complaints);
    });

    test.each(mutations)('notices $what', ({ caught: [file, text] }) => {
      const inFile = found.filter((complaint) => complaint.file === file).map((complaint) => complaint.text);
      expect(
        inFile.filter((complaint) => complaint.includes(text)),
        inFile.join('\n'),
      ).not.toEqual([]);
    });
  });
});

describe('the published document', () => {
  const emit = async (): Promise<unknown> => {
    const emitter = join(copy, 'contract/openapi/openapi.ts');
    const program = `import { openApiDocument } from ${JSON.stringify(emitter)};
      process.stdout.write(JSON.stringify(openApiDocument('https://api.example.com')));`;
    const env = { ...process.env, NODE_COMPILE_CACHE: join(copy, '.cache') };
    return JSON.parse((await run(process.execPath, ['--input-type=module', '-e', program], { env })).stdout);
  };
  let current: unknown;
  beforeAll(async () => {
    current = await emit();
  });

  test.each(published)('differs from the snapshot by $what', async (mutation) => {
    expect(await changed([mutation], emit)).not.toEqual(current);
  });
});

describe('the generated client', () => {
  test.each(generatedOtherwise)('differs from what the contract generates by $what', async ({ from, to }) => {
    const text = await readFile(join(root, 'client/generated.ts'), 'utf8');
    expect(text).toContain(from);
    expect(text.replace(from, () => to)).not.toBe(generate());
    expect(text).toBe(generate());
  });
});
