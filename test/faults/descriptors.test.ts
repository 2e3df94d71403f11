/** A process that runs out of file descriptors. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { migratedDatabase } from '../database.ts';
import { startServing } from './processes.ts';

const parts = ['/openapi.json', '/settings/sign-in', '/.well-known/oauth-authorization-server'];
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** On a connection that stays open, because the process may have no descriptor for another. */
async function statusOf(url: string): Promise<number | undefined> {
  // `as`: as Node documents it.
  const [response] = (await once(get(url, { agent }), 'response')) as [IncomingMessage];
  await once(response.resume(), 'end');
  return response.statusCode;
}

/** Opens connections until the process has no descriptor for one, and closes it. */
async function takeDescriptors(url: string): Promise<Socket[]> {
  const taken: Socket[] = [];
  for (;;) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
    const isServed = await new Promise<boolean>((resolve) => {
      socket.on('error', () => undefined);
      socket.once('data', () => resolve(true)).once('close', () => resolve(false));
    });
    if (!isServed) return taken;
    taken.push(socket);
  }
}

test.skipIf(process.platform !== 'linux')(
  'a part whose first request failed for lack of them works later',
  async () => {
    const { url: DATABASE_URL, drop } = await migratedDatabase();
    const { url, child, output, end } = await startServing([], { DATABASE_URL });
    try {
      execFileSync('prlimit', ['--pid', String(child.pid), '--nofile=100']);
      expect(await statusOf(`${url}/healthz`)).toBe(200);
      const taken = await takeDescriptors(url);
      for (const part of parts) expect(await statusOf(url + part)).toBe(500);
      await expect.poll(() => output.text.match(/^\{"level":"error",.*"status":500,/gm)).toHaveLength(parts.length);
      await expect.poll(() => output.text).toMatch(/"message":"no file could be opened[^"]*","error":\{.*EMFILE/);
      for (const socket of taken) socket.destroy();
      for (const part of parts) await expect.poll(() => statusOf(url + part)).toBe(200);
    } finally {
      agent.destroy();
      await end('SIGTERM');
      await drop();
    }
  },
);
