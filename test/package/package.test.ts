/** The two packages, as whoever installs them has them. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { publint } from 'publint';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { proposal } from '../records.ts';
import { useWorld } from '../world.ts';
import { packAll, root, run } from './packed.ts';
import type { Packed } from './packed.ts';

let packed: Awaited<ReturnType<typeof packAll>>;
beforeAll(async () => {
  packed = await packAll();
});
afterAll(() => packed?.remove());

const each = (): Packed[] => [packed.server, packed.client];

describe('the packages', () => {
  test('hold built code and nothing else', () => {
    for (const { name, files } of each()) {
      const known =
        /^(?:(?:dist\/)?(?:client|contract|server)\/[\w/.-]+\.(?:js|d\.ts)|(?:dist\/)?server\/web\/(?:docs|settings)\/.+|server\/proposal-api\.js|package\.json|[A-Z]+(?:\.md)?|dist\/CHANGELOG\.md)$/;
      expect(
        files.filter((file) => !known.test(file)),
        name,
      ).toEqual([]);
      expect(
        files.filter((file) => /(?<!\.d)\.ts$|test|\.map$/.test(file)),
        name,
      ).toEqual([]);
    }
    expect(packed.client.files.filter((file) => /server|openapi/.test(file))).toEqual([]);
    expect(packed.client.files).toEqual(
      expect.arrayContaining(['client/index.js', 'contract/index.d.ts', 'README.md']),
    );
  });

  test('have nothing that publint would change', async () => {
    for (const { installed, name } of each()) {
      const { messages } = await publint({ pkgDir: installed, pack: false, strict: true });
      expect(messages, name).toEqual([]);
    }
  });

  test('of the client needs the same versions as the server, and no more than two', async () => {
    const dependenciesOf = async ({ installed }: Packed) =>
      JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')).dependencies;
    const needed = await dependenciesOf(packed.client);
    expect(Object.keys(needed)).toEqual(['@ts-rest/core', 'zod']);
    expect(await dependenciesOf(packed.server)).toMatchObject(needed);
  });
});

describe('the installed command', () => {
  test('runs as JavaScript', async () => {
    const program = join(packed.server.installed, 'server/proposal-api.js');
    const help = await run(process.execPath, [program, '--help']);
    expect(help.stdout).toContain('serve');
    const { stdout } = await run(process.execPath, [program, 'openapi'], { maxBuffer: 1e8 });
    expect(JSON.parse(stdout)).toMatchObject({ openapi: '3.1.1' });
  });
});

describe('a project that installed the client', () => {
  const world = useWorld();

  test('compiles the six lines of the README under strict, and gets its first record', async () => {
    const tenant = await world.organization();
    const customer = String((await tenant.call('POST', '/v1/customers', { name: 'Ann' })).body.id);
    const times = { sentAt: '2026-01-01T00:00:00.000Z', acceptedAt: '2026-01-02T00:00:00.000Z' };
    await proposal(tenant, { customer, status: 'accepted', number: 'P-7', ...times });
    const { project, installed } = packed.client;
    const [, lines = ''] = /```ts\n([\s\S]*?)```/.exec(await readFile(join(installed, 'README.md'), 'utf8')) ?? [];
    expect(lines.trim().split('\n')).toHaveLength(6);
    const program = lines.replaceAll('http://localhost:3000', world.url).replaceAll('ak_live_…', tenant.key);
    await writeFile(join(project, 'six.mts'), program);
    const settings = { target: 'es2022', lib: ['es2022', 'dom'], module: 'nodenext', types: [], strict: true };
    const strictest = { noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true };
    await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...settings, ...strictest } }));
    await run(join(root, 'node_modules/.bin/tsc'), ['--skipLibCheck'], { cwd: project });
    expect((await run(process.execPath, ['six.mjs'], { cwd: project })).stdout).toContain('P-7');
  });

  test('checks records with the schemas of the contract', async () => {
    const program = `
      import { customerCreate, problemCodes } from '${packed.client.name}/contract';
      console.log(customerCreate.safeParse({ email: 'nobody' }).success, problemCodes.rate_limited.status);`;
    await writeFile(join(packed.client.project, 'check.mjs'), program);
    const { stdout } = await run(process.execPath, ['check.mjs'], { cwd: packed.client.project });
    expect(stdout).toBe('false 429\n');
  });

  test('bundles it for a browser, small and whole', async () => {
    const client = await bundleOf(`export { createClient, isApiError } from '${packed.client.name}';`);
    const contract = await bundleOf(`export { customerCreate } from '${packed.client.name}/contract';`);
    process.stdout.write(`client ${client.gzipped} bytes gzipped, contract ${contract.gzipped}\n`);
    expect(client.gzipped).toBeLessThan(5_000);
    expect(contract.gzipped).toBeLessThan(80_000);
    for (const { code, imports } of [client, contract]) {
      expect(imports).toEqual([]);
      expect(code).not.toMatch(/\bnode:|\brequire\(|\bprocess\.|\bBuffer\b/);
    }
  });

  async function bundleOf(program: string): Promise<{ code: string; imports: string[]; gzipped: number }> {
    const input = join(packed.client.project, 'bundle.mjs');
    await writeFile(input, program);
    const bundle = await rolldown({ input, platform: 'browser', logLevel: 'silent' });
    const { output } = await bundle.generate({ minify: true });
    await bundle.close();
    const code = output.map((part) => (part.type === 'chunk' ? part.code : '')).join('');
    const imports = output.flatMap((part) => (part.type === 'chunk' ? part.imports : []));
    return { code, imports, gzipped: gzipSync(code).length };
  }
});
