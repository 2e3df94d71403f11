/** Clients from three generators: they compile under strict, and list and create customers on the real server. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useWorld } from '../world.ts';
import { documents, versions } from './documents.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

type Generator = {
  /** Writes the code generated from the document at this path into a folder. */
  generate(document: string, folder: string): Promise<void>;
  /** A program that uses the code: creates a customer, and returns its id and the names of all customers. */
  program: string;
};

const generators: Record<string, Generator> = {
  'openapi-typescript and openapi-fetch': {
    async generate(document, folder) {
      const { astToString, default: openapiTypescript } = await import('openapi-typescript');
      const code = astToString(await openapiTypescript(pathToFileURL(document)));
      await writeFile(join(folder, 'api.ts'), code);
    },
    program: `
      import createClient from 'openapi-fetch';
      import type { components, paths } from './api.ts';
      export async function use(baseUrl: string, key: string) {
        const client = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${key}\` } });
        const body: components['schemas']['CustomerCreate'] = { name: 'Ana', tags: ['vip'], address: { city: 'Lisboa' } };
        const made = await client.POST('/v1/customers', { body, params: { query: { onConflict: 'error' } } });
        if (made.error) throw new Error(made.error.detail);
        const { data, error } = await client.GET('/v1/customers', { params: { query: { limit: 5, sort: '-name' } } });
        if (error) throw new Error(error.detail);
        const refused = await client.POST('/v1/customers', { body: { email: 'nobody' } });
        const customers: components['schemas']['Customer'][] = data.data;
        return { id: made.data.id, names: customers.map(({ name }) => name), refused: refused.error?.code };
      }`,
  },
  '@hey-api/openapi-ts': {
    async generate(document, folder) {
      const { createClient } = await import('@hey-api/openapi-ts');
      await createClient({
        input: document,
        output: { path: join(folder, 'api') },
        logs: { level: 'silent' },
        plugins: ['@hey-api/typescript', '@hey-api/client-fetch', '@hey-api/sdk'],
      });
    },
    program: `
      import { createCustomer, listCustomers } from './api/index.ts';
      import type { Customer } from './api/index.ts';
      import { createClient } from './api/client/index.ts';
      export async function use(baseUrl: string, key: string) {
        const client = createClient({ baseUrl, auth: key });
        const made = await createCustomer({ client, throwOnError: true, body: { name: 'Ana', tags: ['vip'], address: { city: 'Lisboa' } } });
        const { data } = await listCustomers({ client, throwOnError: true, query: { limit: 5, sort: '-name' } });
        const refused = await createCustomer({ client, body: { email: 'nobody' } });
        const customers: Customer[] = data.data;
        return { id: made.data.id, names: customers.map(({ name }) => name), refused: refused.error?.code };
      }`,
  },
  oazapfts: {
    async generate(document, folder) {
      const { generateSource } = await import('oazapfts');
      await writeFile(join(folder, 'api.ts'), await generateSource(document));
    },
    program: `
      import { createCustomer, defaults, listCustomers } from './api.ts';
      import type { Customer } from './api.ts';
      export async function use(baseUrl: string, key: string) {
        Object.assign(defaults, { baseUrl, headers: { authorization: \`Bearer \${key}\` } });
        const made = await createCustomer({ name: 'Ana', tags: ['vip'], address: { city: 'Lisboa' } });
        if (made.status !== 201) throw new Error(String(made.status));
        const listed = await listCustomers({ limit: 5, sort: '-name' });
        if (listed.status !== 200) throw new Error(String(listed.status));
        const refused = await createCustomer({ email: 'nobody' });
        const customers: Customer[] = listed.data.data;
        return { id: made.data.id, names: customers.map(({ name }) => name), refused: refused.status === 422 ? refused.data.code : undefined };
      }`,
  },
};

const cases = Object.keys(generators).flatMap((name) => versions.map((version) => ({ name, version })));
type Use = (baseUrl: string, key: string) => Promise<{ id: string; names: string[]; refused: string | undefined }>;

const world = useWorld();
let folder: string;
const folderOf = (name: string, version: string) => join(folder, name.replaceAll(/\W+/g, '-'), version);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proposal-api-generators-'));
  await symlink(join(root, 'test/consumers/node_modules'), join(folder, 'node_modules'));
  for (const version of versions) {
    await writeFile(join(folder, `${version}.json`), JSON.stringify(documents[version]()));
    for (const [name, { generate, program }] of Object.entries(generators)) {
      await mkdir(folderOf(name, version), { recursive: true });
      await generate(join(folder, `${version}.json`), folderOf(name, version));
      await writeFile(join(folderOf(name, version), 'program.ts'), program);
    }
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The program and the generated code, bundled. */
async function bundled(name: string, version: string): Promise<{ use: Use }> {
  const entry = join(folderOf(name, version), 'program.ts');
  const bundle = await rolldown({ input: entry, platform: 'node', logLevel: 'silent' });
  const file = join(dirname(entry), 'program.mjs');
  await bundle.write({ file, codeSplitting: false });
  await bundle.close();
  return import(pathToFileURL(file).href);
}

const settings = {
  compilerOptions: {
    target: 'es2024',
    lib: ['es2024', 'dom', 'dom.iterable'],
    module: 'esnext',
    moduleResolution: 'bundler',
    allowImportingTsExtensions: true,
    types: [],
    strict: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
    noEmit: true,
  },
};

/** The compiler's errors in the programs and the code that they use. */
async function complaintsAbout(...include: string[]): Promise<string[]> {
  const file = join(folder, `tsconfig.${include.length}.json`);
  await writeFile(file, JSON.stringify({ ...settings, include: include.map((path) => `${path}/**/*.ts`) }));
  const compiler = join(root, 'node_modules/.bin/tsc');
  const output = await run(compiler, ['--pretty', 'false', '--project', file]).then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  );
  return output.split('\n').filter((line) => line !== '');
}

describe('generated clients', () => {
  test('all compile under strict', async () => {
    expect(await complaintsAbout(...cases.map(({ name, version }) => folderOf(name, version)))).toEqual([]);
  });

  test('do not compile if they are used incorrectly', async () => {
    const wrong = await mkdtemp(join(folder, 'wrong-'));
    for (const [index, { name, version }] of cases.entries()) {
      const from = folderOf(name, version);
      const program = (generators[name]?.program ?? '').replaceAll("'./api", `'${from}/api`);
      await writeFile(join(wrong, `${index}.ts`), program.replace("{ name: 'Ana'", "{ nmae: 'Ana'"));
    }
    const complaints = await complaintsAbout(wrong);
    expect(complaints.filter((line) => line.includes("'nmae' does not exist"))).toHaveLength(cases.length);
  });

  test.each(cases)('of $name from OpenAPI $version create and list customers', async ({ name, version }) => {
    const tenant = await world.organization();
    await tenant.call('POST', '/v1/customers', { name: 'Berta' });
    const { use } = await bundled(name, version);
    const { id, names, refused } = await use(world.url, tenant.key);
    expect({ names, refused }).toEqual({ names: ['Berta', 'Ana'], refused: 'validation_failed' });
    const { body } = await tenant.call('GET', `/v1/customers/${id}`);
    expect(body).toMatchObject({ name: 'Ana', tags: ['vip'], address: { city: 'Lisboa', country: null } });
  });
});
