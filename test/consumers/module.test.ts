/** The typed client as a module served by the service, for use without a package manager: in Deno and in a browser. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasChromium, launchChromium, longestWaitMs } from '../browser/chromium.ts';
import { root, run } from '../compiler/packed.ts';
import { useWorld } from '../world.ts';

const deno = join(root, 'test/consumers/node_modules/@deno/linux-x64-glibc/deno');
const expected = { names: ['Ann', 'Berta'], refused: 'validation_failed' };

/** Creates customers with the client at `module`, and reads them page by page. */
const program = (module: string, baseUrl: string, apiKey: string) => `
  import { createClient, isApiError } from '${module}';
  const client = createClient({ baseUrl: '${baseUrl}', apiKey: '${apiKey}' });
  for (const name of ['Ann', 'Berta']) await client.customers.create({ name });
  const names = [];
  for await (const { data } of client.customers.list({ sort: 'name', limit: 1 }).pages()) names.push(data[0]?.name);
  const error = await client.customers.create({ email: 'nobody' }).catch((reason) => reason);
  globalThis.seen = { names, refused: isApiError(error) && error.code };
`;

const world = useWorld();

describe.runIf(existsSync(deno))('Deno', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'proposal-api-deno-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function runInDeno(text: string): Promise<string> {
    const file = join(folder, 'program.ts');
    await writeFile(file, `// deno-lint-ignore-file\n${text}`);
    const { host } = new URL(world.url);
    const env = { ...process.env, DENO_DIR: join(folder, 'cache'), DENO_NO_UPDATE_CHECK: '1', NO_COLOR: '1' };
    const words = ['run', '--check', '--quiet', `--allow-net=${host}`, `--allow-import=${host}`, file];
    return (await run(deno, words, { env })).stdout;
  }

  test('checks the types of the module and runs it', async () => {
    const { key } = await world.organization();
    const typed = program(`${world.url}/client.js`, world.url, key)
      .replace('const names = []', 'const names: (string | undefined)[] = []')
      .replace('globalThis.seen =', 'const seen =');
    expect(JSON.parse(await runInDeno(`${typed}; console.log(JSON.stringify(seen));`))).toEqual(expected);
    const wrong = typed.replace('{ name }', '{ nmae: name }');
    await expect(runInDeno(wrong)).rejects.toMatchObject({ stderr: expect.stringContaining("'nmae' does not exist") });
  });
});

test.runIf(hasChromium)('Chromium runs it on a page of the same host', async () => {
  const { key } = await world.organization();
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(longestWaitMs);
    const script = `<script type="module">${program('/client.js', world.url, key)}</script>`;
    await page.route('**/application', (route) => route.fulfill({ contentType: 'text/html', body: script }));
    await page.goto(`${world.url}/application`);
    await page.waitForFunction('globalThis.seen');
    expect(await page.evaluate('globalThis.seen')).toEqual(expected);
  } finally {
    await browser.close();
  }
});
