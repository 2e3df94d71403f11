/** The typed client as the service provides it. */
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { useWorld } from '../world.ts';
import { clientName, install, root, run } from './packed.ts';

describe('GET /client.tgz', () => {
  const world = useWorld();
  const get = (path: string, headers: Record<string, string> = {}) => fetch(world.url + path, { headers });

  test('needs no key, and says what it is: version, hash, and how long it may be kept', async () => {
    const response = await get('/client.tgz');
    const bytes = Buffer.from(await response.arrayBuffer());
    const { version } = JSON.parse((await run('tar', ['-xzOf', await saved(bytes), 'package/package.json'])).stdout);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/gzip',
      'content-disposition': `attachment; filename="proposal-api-client-${version}.tgz"`,
      'cache-control': 'public, max-age=300',
      'repr-digest': `sha-512=:${createHash('sha512').update(bytes).digest('base64')}:`,
      'content-length': String(bytes.length),
    });
    const named = await get(`/client-${version}.tgz`);
    expect(named.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(Buffer.from(await named.arrayBuffer())).toEqual(bytes);
  });

  test('is not sent again to those who have it', async () => {
    const etag = (await get('/client.tgz')).headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w+/]{27}"$/);
    const again = await get('/client.tgz', { 'if-none-match': etag });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
    expect((await get('/client.tgz', { 'if-none-match': '"other"' })).status).toBe(200);
    const head = await fetch(`${world.url}/client.tgz`, { method: 'HEAD' });
    expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, etag, '']);
  });

  test('of another version is not there, and the problem says which one is', async () => {
    const response = await get('/client-0.9.0.tgz');
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      code: 'route_not_found',
      detail: expect.stringMatching(/has version \d+\.\d+\.\d+ of the client: http.*\/client\.tgz\.$/),
    });
  });

  test('is what npm installs, and it compiles and runs', async () => {
    const tenant = await world.organization();
    await tenant.call('POST', '/v1/customers', { name: 'Ann' });
    const folder = await mkdtemp(join(tmpdir(), 'proposal-api-install-'));
    try {
      const { project } = await install(clientName, `${world.url}/client.tgz`, join(folder, 'project'));
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

async function saved(bytes: Buffer): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), 'proposal-api-saved-')), 'client.tgz');
  await writeFile(file, bytes);
  return file;
}
