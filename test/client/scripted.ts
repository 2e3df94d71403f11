/** A server that responds from a script, for tests of the client. */
import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { afterEach } from 'vitest';
import { createClient } from '../../client/index.ts';
import type { Client, ClientOptions } from '../../client/index.ts';
import { listen } from '../ports.ts';

export type Step = (request: IncomingMessage, response: ServerResponse) => void;
type Seen = { method: string | undefined; url: string | undefined; headers: IncomingMessage['headers']; body: string };
export type Scene = { client: Client; url: string; seen: Seen[]; waitsMs: number[] };

export const apiKey = `ak_live_${'7'.repeat(64)}`;
const closing: (() => void)[] = [];

afterEach(() => {
  for (const close of closing.splice(0)) close();
});

export async function listening(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${await listen(server)}`;
}

/** The URL of a port that nothing listens on. */
export async function freeUrl(): Promise<string> {
  const url = await listening(() => undefined);
  closing.pop()?.();
  return url;
}

/** A client, and a server that takes one step per request and repeats the last one. Waits are only recorded. */
export async function scene(steps: Step[], options: Partial<ClientOptions> = {}): Promise<Scene> {
  const seen: Seen[] = [];
  const waitsMs: number[] = [];
  const url = await listening((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => (body += part));
    request.on('end', () => {
      const step = steps[Math.min(seen.length, steps.length - 1)];
      seen.push({ method: request.method, url: request.url, headers: request.headers, body });
      step?.(request, response);
    });
  });
  const sleep = async (ms: number) => void waitsMs.push(ms);
  return { client: createClient({ baseUrl: url, apiKey, sleep, ...options }), url, seen, waitsMs };
}

export const answer =
  (status: number, body: unknown, headers: Record<string, string> = {}): Step =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
export const refuse = (status: number, code: string, headers?: Record<string, string>) =>
  answer(
    status,
    { type: '', title: '', status, detail: `It is ${code}.`, code, requestId: 'req_1', errors: [] },
    headers,
  );
export const fine = answer(200, { id: 'cus_1' });
export const made = answer(201, { id: 'cus_1' });
export const drop: Step = (request) => request.socket.destroy();
export const silence: Step = () => undefined;
export const page =
  (status: number, type = 'text/html'): Step =>
  (_, response) => {
    response.writeHead(status, { 'content-type': type }).end('<h1>Bad gateway</h1>');
  };
/** The error that a call fails with. */
export const caught = async (call: PromiseLike<unknown>): Promise<unknown> => {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error('The call was expected to fail.');
};
