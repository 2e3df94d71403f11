/** Runs the code on the pages as a reader would: with their own key and ids instead of those on the page. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { clientName } from '../compiler/packed.ts';
import { program } from '../program.ts';
import { proposal } from '../records.ts';
import type { Tenant, World } from '../world.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

/** For example from Debian's python3-requests; without it, the Python examples are not run. */
export const pythonHasRequests = await run('python3', ['-c', 'import requests']).then(
  () => true,
  () => false,
);
if (!pythonHasRequests) process.stdout.write('Python or its package requests is missing: its examples are not run.\n');

export type Reader = {
  tenant: Tenant;
  folder: string;
  /** The code with this reader's values filled in. */
  own(text: string): string;
  /** Runs a shell snippet; returns the HTTP status of each of its curls, in order. */
  shell(text: string): Promise<{ statuses: number[]; output: string }>;
  /** Runs a program under this name; returns its output. */
  program(name: string, text: string): Promise<string>;
  /** Runs a Python program; returns its output. */
  python(text: string): Promise<string>;
  leave(): Promise<void>;
};

/** A reader with a new organization and an empty folder. */
export async function newReader(world: World): Promise<Reader> {
  const tenant = await world.organization();
  const made = async (path: string, body: object) => String((await tenant.call('POST', path, body)).body.id);
  const customer = await made('/v1/customers', { name: 'Vins et alcools Chevalier' });
  const ids = {
    cus: customer,
    itm: await made('/v1/items', { type: 'product', name: 'Queso Cabrales', unitPrice: '14.00' }),
    prp: await proposal(tenant, {
      customer,
      status: 'accepted',
      sentAt: '2026-03-01T10:00:00.000Z',
      acceptedAt: '2026-03-03T14:05:12.000Z',
    }),
  };
  const folder = await mkdtemp(join(tmpdir(), 'proposal-api-docs-'));
  const environment = {
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    HOME: folder,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    API_KEY: tenant.key,
    DATABASE_URL: inject('databaseUrl'),
  };
  const options = { cwd: folder, env: environment };

  function own(text: string): string {
    return text
      .replaceAll('API_KEY=ak_live_your_key', `API_KEY=${tenant.key}`)
      .replaceAll('your-organization', tenant.organization.slug)
      .replaceAll('npx proposal-api', `node '${program}'`)
      .replaceAll(`from '${clientName}'`, `from '${join(root, 'client/index.ts')}'`)
      .replaceAll(`from '${clientName}/testing'`, `from '${join(root, 'client/testing.ts')}'`)
      .replaceAll(/\b(cus|itm|prp)_01jzy3v1k8e2tb6qk3x5w9r7md\b/g, (_, prefix: keyof typeof ids) => ids[prefix]);
  }

  return {
    tenant,
    folder,
    own,
    async shell(text) {
      const heads = await mkdtemp(join(folder, 'heads-'));
      // Each curl also writes its response headers to a file named after its start time.
      const watched = `curl() { command curl --dump-header "${heads}/$(date +%s%N)" "$@"; }\n`;
      const { stdout } = await run('bash', ['-c', watched + own(text)], options);
      const files = (await readdir(heads)).toSorted();
      const statuses = await Promise.all(
        files.map(async (file) => lastStatus(await readFile(join(heads, file), 'utf8'))),
      );
      return { statuses, output: stdout };
    },
    async program(name, text) {
      const file = join(folder, name);
      await writeFile(file, own(text));
      return (await run(process.execPath, [file], options)).stdout;
    },
    python: async (text) => (await run('python3', ['-c', own(text)], options)).stdout,
    leave: () => rm(folder, { recursive: true }),
  };
}

const lastStatus = (heads: string) => Number([...heads.matchAll(/^HTTP\/\S+ (\d+)/gm)].at(-1)?.[1]);

/** Compiles programs as strictly as this project; returns the compiler's errors, or an empty string. */
export async function compile(folder: string, programs: string[]): Promise<string> {
  const files = await Promise.all(
    programs.map(async (text, index) => {
      const file = join(folder, `program-${index}.mts`);
      await writeFile(file, text);
      return file;
    }),
  );
  const compilerOptions = {
    typeRoots: [join(root, 'node_modules/@types')],
    rewriteRelativeImportExtensions: false,
    noUnusedLocals: false,
  };
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, include: files }),
  );
  return run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder]).then(
    () => '',
    (error: { stdout?: string; message: string }) => error.stdout ?? error.message,
  );
}
