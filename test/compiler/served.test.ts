/** The typed client as the service provides it. */
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { useWorld } from '../world.ts';
import { clientName, install, root, run } from './packed.ts';

const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
const releases = join(root, 'client/releases');

describe(`GET /client-${version}.tgz`, () => {
  const world = useWorld();
  const path = `/client-${version}.tgz`;
  const get = (url: string, headers: Record<string, string> = {}) => fetch(world.url + url, { headers });

  test('needs no key, and states its version and hash', async () => {
    const response = await get(path);
    const bytes = Buffer.from(await response.arrayBuffer());
    const packed = JSON.parse((await run('tar', ['-xzOf', await saved(bytes), 'package/package.json'])).stdout);
    expect([response.status, packed.version, packed.scripts]).toEqual([200, version, undefined]);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/gzip',
      'content-disposition': `attachment; filename="proposal-api-client-${version}.tgz"`,
      'repr-digest': `sha-512=:${createHash('sha512').update(bytes).digest('base64')}:`,
      'content-length': String(bytes.length),
    });
  });

  test('is 304 for clients that have it', async () => {
    const etag = (await get(path)).headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w+/]{27}"$/);
    const again = await get(path, { 'if-none-match': etag });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
    expect((await get(path, { 'if-none-match': '"other"' })).status).toBe(200);
    const head = await fetch(world.url + path, { method: 'HEAD' });
    expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, etag, '']);
  });

  test('is the version that /client.tgz and /client.js redirect to', async () => {
    for (const [newest, target] of [
      ['/client.tgz', path],
      ['/client.js', `/client-${version}/index.js`],
    ] as const) {
      const response = await fetch(world.url + newest, { redirect: 'manual' });
      expect([response.status, response.headers.get('location')]).toEqual([302, world.url + target]);
    }
  });

  test('is 404 for another version, and the problem names the newest one', async () => {
    for (const other of ['/client-0.9.0.tgz', '/client-0.9.0/index.js', `/client-${version}/nowhere.js`]) {
      const response = await get(other);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({
        code: 'route_not_found',
        detail: expect.stringMatching(/newest version of the client is \d+\.\d+\.\d+: http.*\/client-[\d.]+\.tgz\.$/),
      });
    }
  });

  test('is also a typed module, for runtimes that install nothing', async () => {
    const script = await get('/client.js');
    expect([script.status, script.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
    expect(script.headers.get('content-type')).toMatch(/^text\/javascript/);
    const types = await fetch(new URL(script.headers.get('x-typescript-types') ?? '', script.url));
    expect(await types.text()).toContain("export { createClient } from './client.js';");
    const folder = await mkdtemp(join(tmpdir(), 'proposal-api-module-'));
    const names = (await run('tar', ['-tzf', await saved(Buffer.from(await (await get(path)).arrayBuffer()))])).stdout;
    for (const [, name = ''] of names.matchAll(/^package\/dist\/esm\/([\w-]+\.js)$/gm)) {
      await writeFile(
        join(folder, name.replace('.js', '.mjs')),
        (await (await get(`/client-${version}/${name}`)).text()).replaceAll(".js'", ".mjs'"),
      );
    }
    const tenant = await world.organization();
    const program = `import { createClient } from './index.mjs';
      const { plan } = await createClient({ baseUrl: '${world.url}', apiKey: '${tenant.key}' }).me.get();
      console.log(plan);`;
    await writeFile(join(folder, 'program.mjs'), program);
    expect((await run(process.execPath, [join(folder, 'program.mjs')])).stdout).toBe('team\n');
  });

  test('is the URL in the README, the guides and llms.txt', async () => {
    const guides = await get('/docs/first-call.md');
    const texts = [
      await readFile(join(root, 'README.md'), 'utf8'),
      await guides.text(),
      await (await get('/llms.txt')).text(),
    ];
    for (const text of texts) {
      expect(text).toContain(path);
      expect(text).not.toMatch(/\/client\.tgz|client-(?!1)[\d.]+\.tgz/);
    }
  });

  test('can be installed by npm, compiled and run', async () => {
    const tenant = await world.organization();
    await tenant.call('POST', '/v1/customers', { name: 'Ann' });
    const folder = await mkdtemp(join(tmpdir(), 'proposal-api-install-'));
    try {
      const { project } = await install(clientName, `${world.url}${path}`, join(folder, 'project'));
      await writeFile(
        join(project, 'names.mts'),
        `import { createClient } from '${clientName}';
        const client = createClient({ baseUrl: '${world.url}', apiKey: '${tenant.key}' });
        for await (const { name } of client.customers.list()) console.log(name satisfies string);`,
      );
      const options = ['--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,dom', '--strict', '--types', ''];
      await run(join(root, 'node_modules/.bin/tsc'), [...options, 'names.mts'], { cwd: project });
      expect((await run(process.execPath, ['names.mjs'], { cwd: project })).stdout).toBe('Ann\n');
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

test('a released version still has the bytes it was released with', async () => {
  const sums = await readFile(join(releases, 'SHA512SUMS'), 'utf8').catch(() => '');
  const kept = sums.split('\n').flatMap((line) => (line === '' ? [] : [line.split('  ')]));
  expect(new Set(kept.map(([, name]) => name)).size, 'each version is released once').toBe(kept.length);
  for (const [hash, name = ''] of kept) {
    const bytes = await readFile(join(releases, name));
    expect(createHash('sha512').update(bytes).digest('hex'), name).toBe(hash);
  }
  if (!kept.some(([, name]) => name === `${version}.tgz`)) return;
  const fresh = join(await mkdtemp(join(tmpdir(), 'proposal-api-fresh-')), 'client.tgz');
  await run(process.execPath, [join(root, 'client/build/build.ts'), '--tarball', fresh]);
  expect(await readFile(fresh), 'this version is released: npm run release -- <the next> --prepare').toEqual(
    await readFile(join(releases, `${version}.tgz`)),
  );
});

async function saved(bytes: Buffer): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), 'proposal-api-saved-')), 'client.tgz');
  await writeFile(file, bytes);
  return file;
}
