/** Requests that Node's parser rejects, and those that it would answer in its own way. */
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { useWorld } from '../world.ts';

/** Sends the pieces as they are, and returns all that comes back until the server closes. */
async function exchange(url: string, ...pieces: string[]): Promise<string> {
  const { port } = new URL(url);
  return await new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1', () => {
      for (const piece of pieces) socket.write(piece);
    });
    let received = '';
    socket.on('data', (chunk) => (received += String(chunk)));
    socket.on('end', () => resolve(received));
    socket.on('error', reject);
  });
}

const problemOf = (text: string): unknown => JSON.parse(text.slice(text.lastIndexOf('\r\n\r\n') + 4));

describe('a request that does not arrive in time', () => {
  const world = useWorld({ timeouts: { request: 300, headers: 300, check: 20 } });

  test('is a 408 problem where its headers are late', async () => {
    const text = await exchange(world.url, 'GET /v1/me HTTP/1.1\r\nHost: a\r\nX-Slow: ');
    expect(text).toMatch(/^HTTP\/1.1 408 /);
    expect(problemOf(text)).toMatchObject({ status: 408, code: 'request_timeout' });
  });

  test('is a 408 problem where its body is late', async () => {
    const { key } = await world.organization();
    const text = await exchange(
      world.url,
      `POST /v1/customers HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`,
      'Content-Length: 30\r\n\r\n{"name":',
    );
    expect(text).toMatch(/^HTTP\/1.1 408 /);
    expect(problemOf(text)).toMatchObject({ status: 408, code: 'request_timeout' });
  });
});

describe('a request that is not HTTP/1.1 as the service speaks it', () => {
  const world = useWorld();

  test('CONNECT is a 400 problem', async () => {
    const text = await exchange(world.url, 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n');
    expect(text).toMatch(/^HTTP\/1.1 400 /);
    expect(problemOf(text)).toMatchObject({ code: 'malformed_request', detail: expect.stringContaining('CONNECT') });
  });

  test('two Host headers are a 400 problem', async () => {
    const text = await exchange(world.url, 'GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n');
    expect(text).toMatch(/^HTTP\/1.1 400 /);
    expect(problemOf(text)).toMatchObject({ code: 'malformed_request', detail: expect.stringContaining('Host') });
  });

  test('an error in a pipelined request waits for the response before it', async () => {
    const { key } = await world.organization();
    const text = await exchange(
      world.url,
      `GET /v1/customers HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\nnot HTTP at all\r\n\r\n`,
    );
    expect(text).toMatch(/^HTTP\/1.1 200 /);
    expect(text.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
    expect(problemOf(text)).toMatchObject({ code: 'malformed_request' });
  });
});
