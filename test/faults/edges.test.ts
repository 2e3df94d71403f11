/** Requests that Node's parser rejects, and those that Node would answer on its own. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { rejectUnparsed, trackResponses } from '../../server/http/unparsed.ts';
import { exchange, lastBody } from '../exchange.ts';
import { listen } from '../ports.ts';
import { useWorld } from '../world.ts';

/** Sends the text, reads the response and never closes; resolves once the server has dropped the connection. */
async function held(url: string, text: string): Promise<string> {
  const { port } = new URL(url);
  return await new Promise((resolve) => {
    const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true }, () => socket.write(text));
    let received = '';
    let writing: NodeJS.Timeout | undefined;
    socket.on('data', (chunk) => (received += String(chunk)));
    // Writing to a connection that the server has dropped is an error.
    socket.on('end', () => (writing = setInterval(() => socket.write('x'), 50)));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearInterval(writing);
      resolve(received);
    });
  });
}

describe('a request that does not arrive in time', () => {
  const world = useWorld({ timeouts: { request: 300, headers: 300, check: 20 } });

  test('is a 408 problem if its headers are late', async () => {
    const text = await exchange(world.url, 'GET /v1/me HTTP/1.1\r\nHost: a\r\nX-Slow: ');
    expect(text).toMatch(/^HTTP\/1.1 408 /);
    expect(lastBody(text)).toMatchObject({ status: 408, code: 'request_timeout' });
  });

  test('gets one response and frees its file descriptor, whether or not the client closes its end', async () => {
    const { key } = await world.organization();
    const post = `POST /v1/customers HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
    const texts = {
      'late headers': 'GET /v1/me HTTP/1.1\r\nHost: a\r\nX-Slow: ',
      'a late body': `${post}Content-Length: 30\r\n\r\n{"name":`,
      'a late body with a wrong key': `${post.replace(key, 'x')}Content-Length: 30\r\n\r\n{"name":`,
      'no HTTP': 'not HTTP at all\r\n\r\n',
      CONNECT: 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n',
    };
    const received = await Promise.all(Object.values(texts).map((text) => held(world.url, text)));
    const statuses = received.map((text) => text.match(/(?<=HTTP\/1.1 )\d+/g)?.join(' '));
    // On a busy machine, the others may be late, too.
    const one = expect.stringMatching(/^4\d\d$/);
    expect(statuses).toEqual(['408', '408', one, one, one]);
  });
});

describe('a client that does not read its responses', () => {
  const world = useWorld({ timeouts: { stalled: 300 } });

  test('loses its connection, and only one response has waited for it', async () => {
    const { port } = new URL(world.url);
    // More than the operating system buffers.
    const many = 'GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(100);
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(many));
    await expect.poll(() => world.log.filter(({ aborted }) => aborted)).toHaveLength(1);
    socket.destroy();
  });

  test('is disconnected if it has sent too many requests', async () => {
    const many = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(1000);
    const received = await exchange(world.url, many).catch(String);
    expect(received.split('HTTP/1.1 200').length).toBeLessThan(1000);
  });
});

const notAHost = 'The Host header is not the name of a host with an optional port.';

describe('an unusual, invalid or unsupported HTTP/1.1 request', () => {
  const world = useWorld();

  test('an Expect header that the service does not know is ignored', async () => {
    const text = await exchange(
      world.url,
      'GET /healthz HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\nConnection: close\r\n\r\n',
    );
    expect(text).toMatch(/^HTTP\/1.1 200 /);
  });

  test('a client may always send some requests at a time, and keep its connection', async () => {
    const { port } = new URL(world.url);
    const socket = connect(Number(port), '127.0.0.1');
    let received = '';
    socket.on('data', (data) => (received += String(data)));
    for (const count of [60, 120, 180]) {
      socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(60));
      await expect.poll(() => received.split('HTTP/1.1 200').length - 1).toBe(count);
    }
    socket.destroy();
  });

  test('CONNECT is a 400 problem', async () => {
    const text = await exchange(world.url, 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n');
    expect(text).toMatch(/^HTTP\/1.1 400 /);
    expect(lastBody(text)).toMatchObject({ code: 'malformed_request', detail: expect.stringContaining('CONNECT') });
  });

  test('a connection that is reset after CONNECT ends nothing else', async () => {
    const server = createServer();
    const log: unknown[] = [];
    rejectUnparsed(server, trackResponses(server), { publicUrl: world.url, log: (line) => log.push(line) });
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const client = connect(await listen(server), '127.0.0.1', () => {
      client.write('CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n');
    });
    const [socket] = await accepted;
    await once(client, 'data');
    // Without one, the reset would be an uncaught exception.
    expect(socket.listenerCount('error')).toBe(1);
    client.resetAndDestroy();
    await new Promise((resolve) => socket.once('close', resolve));
    expect(socket.errored).toMatchObject({ code: 'ECONNRESET' });
    expect(log).toMatchObject([{ status: 400 }]);
    server.close();
  });

  test.each([
    ['two Host headers', '1.1\r\nHost: a\r\nHost: b', 'The Host header appears twice.'],
    ['two Host headers, of which one is empty', '1.1\r\nHost:\r\nHost: b', 'The Host header appears twice.'],
    ['an empty Host header', '1.1\r\nHost:', 'The Host header is missing.'],
    ['a Host header with a space', '1.1\r\nHost: a b', notAHost],
    ['a Host header with a path', '1.1\r\nHost: a/b', notAHost],
    ['a Host header with a user', '1.1\r\nHost: ann@a', notAHost],
    ['a Host header with a query', '1.1\r\nHost: a?', notAHost],
    ['a Host header with half an IPv6 address', '1.1\r\nHost: [::1', notAHost],
    ['a Host header with a port that is not a number', '1.1\r\nHost: a:b', notAHost],
  ])('%s: a 400 problem', async (_, text, sentence) => {
    const received = await exchange(world.url, `GET /healthz HTTP/${text}\r\nConnection: close\r\n\r\n`);
    expect(received).toMatch(/^HTTP\/1.1 400 /);
    expect(lastBody(received)).toMatchObject({ code: 'malformed_request', detail: expect.stringContaining(sentence) });
  });

  test('a host may be a name or an address, with or without a port', async () => {
    for (const host of [
      'a',
      'my_service:3000',
      '127.0.0.1:80',
      '[::1]:80',
      '[fe80::1%25eth0]',
      'a.example.:',
      '%2Frun%2Fa',
    ])
      expect(await exchange(world.url, `GET /healthz HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)).toMatch(
        /^HTTP\/1.1 200 /,
      );
  });

  test('HTTP/1.0, as of simple health checks, needs no Host header', async () => {
    expect(await exchange(world.url, 'GET /healthz HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1.1 200 /);
  });

  test('HTTP/1.0 has no chunks, so nothing after a request with them counts as another request', async () => {
    const chunked = 'Transfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n0\r\n\r\n';
    const smuggled = 'GET /healthz HTTP/1.0\r\n\r\n';
    const received = await exchange(world.url, `GET /healthz HTTP/1.0\r\n${chunked}${smuggled}`);
    expect(received.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200']);
  });

  test('an error in a pipelined request waits for the response before it', async () => {
    const { key } = await world.organization();
    const text = await exchange(
      world.url,
      `GET /v1/customers HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\nnot HTTP at all\r\n\r\n`,
    );
    expect(text).toMatch(/^HTTP\/1.1 200 /);
    expect(text.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
    expect(lastBody(text)).toMatchObject({ code: 'malformed_request' });
  });

  test.each([
    [400, 'a filter', 'Content-Length: 16\r\n\r\n{"status":"all"}'],
    [400, 'a form', 'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 10\r\n\r\nstatus=all'],
    [400, 'a chunk', 'Transfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n'],
    [400, 'a byte that is not UTF-8', 'Content-Length: 1\r\n\r\n\xff'],
    [400, 'far too much', 'Content-Length: 300000\r\n\r\n'],
    [400, 'a compressed filter', 'Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}'],
    [200, 'nothing', 'Content-Length: 0\r\n\r\n'],
    [200, 'an empty object', 'Content-Type: application/json\r\nContent-Length: 3\r\n\r\n{ }'],
    [200, 'no chunk', 'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ])('a GET is %i with a body of %s', async (status, _, rest) => {
    const { key } = await world.organization();
    const headers = `Host: a\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\n`;
    const text = await exchange(world.url, `GET /v1/customers HTTP/1.1\r\n${headers}${rest}`);
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    const detail = 'This operation takes no body. Send parameters in the query.';
    if (status === 400) expect(lastBody(text)).toMatchObject({ code: 'malformed_request', detail });
  });

  test('a chunked body is rejected as soon as it is too large, before it ends', async () => {
    const { key } = await world.organization();
    const headers = `Host: a\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
    const chunk = `${(300_000).toString(16)}\r\n${' '.repeat(300_000)}\r\n`;
    const text = await exchange(
      world.url,
      `POST /v1/customers HTTP/1.1\r\n${headers}Transfer-Encoding: chunked\r\n\r\n${chunk}`,
    );
    expect(text).toMatch(/^HTTP\/1.1 413 /);
    expect(lastBody(text)).toMatchObject({ code: 'payload_too_large' });
  });

  test('is rejected once, no matter how much follows it', async () => {
    const { key } = await world.organization();
    const warnings: string[] = [];
    const note = ({ message }: Error) => warnings.push(message);
    process.on('warning', note);
    const before = world.log.length;
    const { port } = new URL(world.url);
    const socket = connect({ port: Number(port), host: '127.0.0.1', noDelay: true });
    let received = '';
    socket.on('data', (chunk) => (received += String(chunk))).on('error', () => undefined);
    socket.write(`GET /v1/customers HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    // In separate packets, until the server has closed the connection.
    while (!socket.closed && !socket.readableEnded) {
      if (socket.writable) socket.write('not HTTP at all\r\n\r\n');
      await new Promise(setImmediate);
    }
    process.off('warning', note);
    expect(received.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
    expect(lastBody(received)).toMatchObject({ code: 'malformed_request' });
    expect(world.log.slice(before).filter(({ code }) => code === 'malformed_request')).toHaveLength(1);
    expect(warnings).toEqual([]);
  });
});

describe('a request with Expect: 100-continue', () => {
  const world = useWorld();
  const post = (headers: string, path = '/v1/customers') =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n${headers}\r\n\r\n`;
  const json = 'Content-Type: application/json\r\nContent-Length: 14';

  test('gets 100 Continue once its headers are accepted', async () => {
    const { key } = await world.organization();
    const text = await exchange(
      world.url,
      post(`Authorization: Bearer ${key}\r\nConnection: close\r\n${json}`),
      '{"name":"Ann"}',
    );
    expect(text.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 100', 'HTTP/1.1 201']);
  });

  test('is logged as cut off, not as rejected, if its connection is reset', async () => {
    const { key } = await world.organization();
    const socket = connect(Number(new URL(world.url).port), '127.0.0.1');
    socket.write(post(`Authorization: Bearer ${key}\r\n${json}`));
    expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1.1 100 /);
    socket.resetAndDestroy();
    await expect.poll(() => world.log.at(-1)).toMatchObject({ operation: 'createCustomer', status: 499 });
  });

  test('keeps its connection for the next request', async () => {
    const { key } = await world.organization();
    const created = post(`Authorization: Bearer ${key}\r\n${json}`);
    const text = await exchange(world.url, created, '{"name":"Ann"}', created.replace(key, 'x'));
    expect(text.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 100', 'HTTP/1.1 201', 'HTTP/1.1 401']);
  });

  test('is rejected before its body if its headers are reason enough', async () => {
    const { key } = await world.organization();
    const authorization = `Authorization: Bearer ${key}\r\n`;
    const rejected: [string, string][] = [
      [post(json), 'api_key_missing'],
      [post(`${authorization}Content-Type: application/json\r\nContent-Length: 20000000`), 'payload_too_large'],
      [post(`${authorization}Content-Type: text/plain\r\nContent-Length: 5`), 'unsupported_media_type'],
      [post(authorization + json, '/v1/contacts'), 'route_not_found'],
    ];
    for (const [request, code] of rejected) {
      const text = await exchange(world.url, request);
      expect(text.match(/HTTP\/1.1 \d+|Connection: close/g), code).toEqual([
        expect.stringMatching(/^HTTP\/1.1 4/),
        'Connection: close',
      ]);
      expect(lastBody(text)).toMatchObject({ code });
    }
  });
});
