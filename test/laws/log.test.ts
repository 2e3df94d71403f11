/** The log as it leaves the process: it contains no API key, however the key was written. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, inject, test } from 'vitest';
import { failureLog } from '../../server/http/log.ts';
import { program } from '../program.ts';
import { useWorld } from '../world.ts';

/** Runs `serve` on the tests' database; `stop` ends it and returns its log. */
async function serving() {
  const environment = { ...process.env, DATABASE_URL: inject('databaseUrl'), PORT: '0' };
  const child = spawn(process.execPath, [program, 'serve'], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, log] = ['', ''];
  child.stdout.on('data', (chunk) => (out += String(chunk)));
  child.stderr.on('data', (chunk) => (log += String(chunk)));
  const closed = once(child, 'close');
  while (!/Serving (http\S+)\/v1/.test(out)) {
    if (child.exitCode !== null) throw new Error(`serve ended: ${log}`);
    await Promise.race([once(child.stdout, 'data'), closed]);
  }
  const stop = async (): Promise<string> => {
    child.kill('SIGTERM');
    await closed;
    return log;
  };
  return { url: /Serving (http\S+)\/v1/.exec(out)?.[1] ?? '', stop };
}

const encoded = (text: string) => [...text].map((letter) => `%${letter.codePointAt(0)?.toString(16)}`).join('');

/** The text without percent-encoding, however often it was applied. */
function decoded(text: string): string {
  const plain = text.replaceAll(/%([0-9a-f]{2})/gi, (_, code: string) =>
    String.fromCodePoint(Number.parseInt(code, 16)),
  );
  return plain === text ? text : decoded(plain);
}

describe('the log', () => {
  const world = useWorld();

  test('contains no key, whether plain, percent-encoded or inside a path', async () => {
    const { key } = await world.organization();
    const secret = key.slice('ak_live_'.length);
    const { url, stop } = await serving();
    const authorization = `Bearer ${key}`;
    const paths = [
      `/v1/customers/${key}`,
      `/v1/customers/x${key}y/z`,
      `/v1/customers?q=${key}`,
      `/v1/customers?${key}=1`,
      `/v1/customers?api_key=${key}`,
      `/v1/customers/ak%5Flive%5F${secret}`,
      `/v1/customers/${encoded(key)}`,
      `/v1/customers/${encoded(encoded(key))}`,
      // More often than anyone decodes it.
      `/v1/customers/ak%${'25'.repeat(20)}5Flive_${secret}`,
      `/v1/customers/ak_live_${encoded(secret)}`,
      `/v1/customers/${key.toUpperCase()}`,
      `/v1/${key}`,
      `/${key}`,
      `/settings/${key}?key=${encoded(key)}`,
      `/docs/${key}`,
    ];
    for (const path of paths) {
      await (await fetch(url + path, { headers: { authorization }, redirect: 'manual' })).text();
      await (
        await fetch(url + path, { headers: { 'x-api-key': key, referer: url + path }, redirect: 'manual' })
      ).text();
    }
    const body = JSON.stringify({ name: key, [key]: key });
    const headers = { authorization, 'content-type': 'application/json' };
    await (await fetch(`${url}/v1/customers`, { method: 'POST', headers, body })).text();
    const log = await stop();
    // A warning at startup is not JSON.
    const lines = log.split('\n').filter((line) => line !== '' && !line.startsWith('Warning: '));
    expect(lines.length).toBeGreaterThan(paths.length);
    for (const line of lines) expect(() => JSON.parse(line), line).not.toThrow();
    // Paths are logged, so the keys in them must have been replaced.
    expect(log).toContain('/v1/customers/');
    const plain = decoded(log).toLowerCase();
    // Any 16 characters in a row are too much; the prefix and the last four are shown on purpose.
    const parts = Array.from({ length: secret.length - 15 }, (_, index) => secret.slice(index, index + 16));
    expect(parts.filter((part) => plain.includes(part))).toEqual([]);
  });

  test('contains no personal data of customers, whether a request succeeds or not', async () => {
    const { key } = await world.organization();
    const { url, stop } = await serving();
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const ask = async (path: string, body?: unknown) => {
      const send = body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) };
      await (await fetch(url + path, send)).text();
    };
    await ask('/v1/customers', { name: 'Xaverine Quell', email: 'xaverine@quell.example', phone: '+49 30 998877' });
    await ask('/v1/customers', { name: 'Xaverine Quell', email: 'xaverine at quell', phone: '99' });
    await ask('/v1/customers?email=xaverine@quell.example&phone=998877');
    await ask('/v1/customers?q=xaverine&nmae=quell');
    const log = await stop();
    expect(log.match(/"status":\d+/g)).toEqual(['201', '422', '200', '400'].map((status) => `"status":${status}`));
    // What collects the log knows where it comes from.
    expect(log).not.toMatch(/"(?:pid|hostname)":/);
    expect(log.toLowerCase()).not.toMatch(/xaverine|quell|998877/);
  });
});

test('a failure of background work that repeats is logged once a minute', () => {
  const log: unknown[] = [];
  let now = 0;
  const report = failureLog(
    ({ message, error }) => log.push([now, message, Reflect.get(Object(error), 'message')]),
    () => now,
  );
  const [scan, save] = [report('scan failed'), report('save failed')];
  for (; now <= 60_000; now += 20_000) {
    scan(new Error('down'));
    // Two kinds of work fail in turn.
    save(new Error('down'));
    save(new Error('read-only'));
  }
  expect(log).toEqual([
    [0, 'scan failed', 'down'],
    [0, 'save failed', 'down'],
    [0, 'save failed', 'read-only'],
    [60_000, 'scan failed', 'down'],
    [60_000, 'save failed', 'down'],
    [60_000, 'save failed', 'read-only'],
  ]);
});
