/** Runs the guide's receivers as separate programs: they accept signed requests, and nothing else. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { unwrapWebhook } from '../../client/index.ts';
import { eventHeaders, events } from '../../contract/events.ts';
import { newSecret, signaturesOf } from '../../server/webhooks/sign.ts';
import { freePort } from '../ports.ts';

const guide = await readFile(new URL('../../server/web/docs/guides/webhooks.md', import.meta.url), 'utf8');
const client = new URL('../../client/index.ts', import.meta.url).href;
const body = JSON.stringify({ type: 'customer.created', timestamp: '2026-03-01T09:30:00.123Z', data: { name: 'Zoë' } });

const programs: [language: string, command: string, file: string, logged: string][] = [
  ['ts', process.execPath, 'receiver.ts', 'No signature is valid.'],
  ['python', 'python3', 'receiver.py', '" 400 -'],
];

test.each(programs)(
  'the receiver in %s handles each signed event once, and rejects all other requests and logs them',
  async (language, command, file, logged) => {
    const [, program = ''] = new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(guide) ?? [];
    const folder = await mkdtemp(join(tmpdir(), 'proposal-api-receiver-'));
    const [secret, port] = [newSecret(), await freePort()];
    await writeFile(join(folder, file), program.replace('@proposal-api/client', client));
    const child = spawn(command, [join(folder, file)], {
      env: { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [output, log] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
    onTestFinished(async () => {
      child.kill();
      await rm(folder, { recursive: true, force: true });
    });
    const post = async (key: string, id = 'evt_1', signed = body, sent = signed) => {
      const timestamp = Math.floor(Date.now() / 1000);
      const headers = {
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signaturesOf([newSecret(), key], { id, timestamp, body: signed }),
      };
      return send(headers, sent);
    };
    const send = (headers: Record<string, string>, sent = body) =>
      fetch(`http://127.0.0.1:${port}/`, {
        method: 'POST',
        headers,
        body: sent,
        signal: AbortSignal.timeout(15_000),
      }).then(
        ({ status }) => status,
        () => undefined,
      );
    await expect.poll(() => post(secret), { timeout: 120_000 }).toBe(204);
    await sendHalf(port);
    // A connection on which nothing is sent must not keep others waiting.
    const silent = connect(port, '127.0.0.1');
    onTestFinished(() => void silent.destroy());
    await once(silent, 'connect');
    expect(await post(newSecret())).toBe(400);
    expect(await post(secret, 'evt_3', body, body.replace('Zoë', 'Zoe'))).toBe(400);
    expect(await send({})).toBe(400);
    expect(await send({ 'webhook-signature': 'v1,Zoë' })).toBe(400);
    expect(await post(secret)).toBe(204);
    expect(await post(secret, 'evt_2', body.replace('created', 'updated'))).toBe(204);
    await expect.poll(() => output, { timeout: 120_000 }).toContain('customer.updated');
    expect(output.split('customer.created')).toHaveLength(2);
    await expect.poll(() => log).toContain(logged);
  },
);

/** A request that is cut off in the middle of its body. */
async function sendHalf(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  socket.end('POST / HTTP/1.1\r\nHost: receiver\r\nContent-Length: 100\r\n\r\n{');
  await once(socket.resume(), 'close');
}

test('the request that the guide shows is valid with its secret, and with no other', async () => {
  const [, secret = ''] = /`(whsec_[^`]+)`/.exec(guide) ?? [];
  const [, head = '', shown = ''] = /```http\nPOST \S+ HTTP\/1\.1\n([^]*?)\n\n(.*)\n```/.exec(guide) ?? [];
  const headers = Object.fromEntries(
    Array.from(head.matchAll(/^(\S+): (.*)$/gm), ([, name = '', value]) => [name, value]),
  );
  expect(Object.keys(headers)).toEqual(['content-type', 'user-agent', ...Object.keys(eventHeaders)]);
  const options = { now: new Date(Number(headers['webhook-timestamp']) * 1000) };
  const event = await unwrapWebhook(shown, headers, secret, options);
  expect(events['endpoint.test'].schema.parse(event)).toEqual(event);
  await expect(unwrapWebhook(shown, headers, newSecret(), options)).rejects.toThrow('No signature is valid.');
});
