/** The MCP Inspector's command line: with a key, and by Connect in a real browser. */
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useBrowser } from '../browser/browser.ts';
import { hasChromium } from '../browser/chromium.ts';
import { someone } from '../settings/visiting.ts';
import { useWorld } from '../world.ts';
import { signInHere } from './consent.ts';

const world = useWorld();
const screen = useBrowser();
const command = fileURLToPath(
  new URL('node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js', import.meta.url),
);
let home: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'proposal-api-inspector-'));
});
afterAll(() => rm(home, { recursive: true, force: true }));

const wordsFor = (method: string) => [command, '--cli', `${world.url}/mcp`, '--transport', 'http', '--method', method];
/** Its settings are in a separate folder, and it opens no real browser. */
const environment = () => ({
  ...process.env,
  HOME: home,
  BROWSER: '/bin/true',
  MCP_AUTO_OPEN_ENABLED: 'true',
  MCP_INSPECTOR_SECRET_STORE: 'memory',
});

test('with a key, the Inspector lists the tools, finds nothing wrong with them, and calls one', async () => {
  const tenant = await world.organization();
  await tenant.call('POST', '/v1/customers', { name: 'Ann' });
  const inspect = async (...words: string[]) => {
    const own = ['--header', `Authorization: Bearer ${tenant.key}`];
    const { stdout } = await promisify(execFile)(process.execPath, [...words, ...own], { env: environment() });
    return JSON.parse(stdout);
  };
  // --strict fails if a schema has an error.
  const { tools } = await inspect(...wordsFor('tools/list'), '--strict');
  expect(tools.length).toBeGreaterThan(8);
  const call = ['--tool-name', 'find_customers', '--tool-arg', 'limit=1'];
  const { content } = await inspect(...wordsFor('tools/call'), ...call);
  expect(JSON.parse(content[0].text)).toMatchObject({ records: [{ name: 'Ann' }] });
});

describe.runIf(hasChromium)('Connect in the Inspector', () => {
  test('discovers, registers, opens the consent page, and calls a tool with the key', async () => {
    const tenant = await world.organization({ name: 'Alfreds Futterkiste' });
    const admin = await someone(world, tenant, 'admin', 'Mara Ellison');
    const words = ['--tool-name', 'who_am_i', '--callback-url', 'http://127.0.0.1:0/oauth/callback'];
    // It must not time out while the person types.
    const patient = ['--connect-timeout', '0'];
    const child = spawn(process.execPath, [...wordsFor('tools/call'), ...words, ...patient], { env: environment() });
    let [output, told] = ['', ''];
    child.stdout.on('data', (part) => (output += part));
    child.stderr.on('data', (part) => (told += part));
    const ended = new Promise((resolve) => child.on('close', resolve));
    try {
      await expect.poll(() => told).toMatch(/navigate to: \S+\n/);
      const page = await screen.open();
      await page.goto(/navigate to: (\S+)/.exec(told)?.[1] ?? '');
      await signInHere(page, admin);
      await page.getByRole('heading', { name: 'Connect MCP Inspector?' }).waitFor();
      await page.getByRole('button', { name: 'Create key and connect' }).click();
      expect([await ended, told]).toEqual([0, expect.any(String)]);
      expect(JSON.parse(JSON.parse(output).content[0].text)).toMatchObject({
        key: { name: 'MCP Inspector' },
        organization: { name: 'Alfreds Futterkiste' },
      });
    } finally {
      child.kill();
    }
  });
});
