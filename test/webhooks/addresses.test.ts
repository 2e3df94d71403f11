/** Endpoints in networks that are not public: rejected at every attempt, not only when they are entered. */
import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { askNameServers, createDestinations, orLocally } from '../../server/outgoing/addresses.ts';
import { createSender, sendLimits } from '../../server/outgoing/send.ts';
import type { Sender } from '../../server/outgoing/send.ts';
import { certificates } from '../certificates.ts';
import { listen } from '../ports.ts';

/** A server on the loopback interface, which must never be reached. */
async function secretServer(): Promise<{ port: number; requests: () => number; sockets: () => number }> {
  let requests = 0;
  let sockets = 0;
  const server = createServer((_, response) => {
    requests += 1;
    response.end('secret');
  });
  server.on('connection', () => (sockets += 1));
  onTestFinished(() => void server.close());
  return { port: await listen(server), requests: () => requests, sockets: () => sockets };
}

function sender(allowed: string[] = [], resolve?: Parameters<typeof createDestinations>[1]): Sender {
  const created = createSender(createDestinations(allowed, resolve));
  onTestFinished(() => created.close());
  return created;
}

const mismatch = 'The TLS certificate is for a different host name.';
const selfSigned = 'The TLS certificate is self-signed.';

const post = (to: Sender, url: string) => to.send({ url, headers: {}, body: '{}' });

const hosts = [
  ['loopback', '127.0.0.1'],
  ['another loopback', '127.9.9.9'],
  ['loopback as a single number', '2130706433'],
  ['loopback in hexadecimal', '0x7f000001'],
  ['loopback in octal', '0177.0.0.1'],
  ['shortened loopback', '127.1'],
  ['any address', '0.0.0.0'],
  ['IPv6 loopback', '[::1]'],
  ['any IPv6 address', '[::]'],
  ['IPv4 in IPv6', '[::ffff:127.0.0.1]'],
  ['IPv4 in IPv6, in hexadecimal', '[::ffff:7f00:1]'],
  ['IPv4-compatible', '[::127.0.0.1]'],
  ['NAT64', '[64:ff9b::7f00:1]'],
  ['local NAT64', '[64:ff9b:1::7f00:1]'],
  ['6to4', '[2002:7f00:1::]'],
  ['Teredo', '[2001:0:7f00:1::]'],
  ['unique local', '[fd00::1]'],
  ['IPv6 link-local', '[fe80::1]'],
  ['IPv6 multicast', '[ff02::1]'],
  ['IPv6 documentation', '[2001:db8::1]'],
  ['newer IPv6 documentation', '[3fff::1]'],
  ['above all public IPv6', '[4000::1]'],
  ['far above all public IPv6', '[8000::1]'],
  ['private, class A', '10.255.255.255'],
  ['private, class B', '172.16.0.1'],
  ['private, class B, last', '172.31.255.255'],
  ['private, class C', '192.168.1.1'],
  ['cloud metadata', '169.254.169.254'],
  ['carrier-grade NAT', '100.64.0.1'],
  ['carrier-grade NAT, last', '100.127.255.255'],
  ['protocol assignments', '192.0.0.8'],
  ['documentation', '192.0.2.1'],
  ['documentation, second', '198.51.100.1'],
  ['documentation, third', '203.0.113.1'],
  ['6to4 relays', '192.88.99.1'],
  ['benchmarks', '198.18.0.1'],
  ['benchmarks, last', '198.19.255.255'],
  ['multicast', '224.0.0.1'],
  ['broadcast', '255.255.255.255'],
] as const;

describe('a request is not sent to', () => {
  test.each(hosts)('%s: %s', async (_, host) => {
    const { port, sockets } = await secretServer();
    for (const protocol of ['http', 'https']) {
      const outcome = await post(sender(), `${protocol}://${host}:${port}/`);
      expect(outcome).toMatchObject({ status: null, response: null });
      expect(outcome.error).toMatch(/is not a public address|Plain http/);
    }
    expect(sockets()).toBe(0);
  });

  test('a name that resolves to one of these, alone or alongside a public address', async () => {
    for (const addresses of [['127.0.0.1'], ['93.184.216.34', '10.0.0.1'], ['::ffff:10.0.0.1']]) {
      const resolve = async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
      const outcome = await post(sender([], resolve), 'https://receiver.example/');
      expect(outcome.error).toBe('receiver.example is not a public address.');
    }
  });

  test('a name that resolves to an allowed network and a public address, over plain HTTP', async () => {
    const resolve = async () => ['127.0.0.1', '93.184.216.34'].map((address) => ({ address, family: 4 }));
    const { error } = await post(sender(['127.0.0.1/32'], resolve), 'http://receiver.example:1/');
    expect(error).toBe('Plain http is only for networks that the operator allows.');
  });

  test('a name that is public when checked and private when used', async () => {
    const { port, sockets } = await secretServer();
    const answers = ['93.184.216.34', '127.0.0.1', '127.0.0.1', '127.0.0.1'];
    const asked: string[] = [];
    const resolve = async (host: string) => {
      asked.push(host);
      return [{ address: answers[asked.length - 1] ?? '127.0.0.1', family: 4 }];
    };
    // The first connection goes to the address that was checked; nothing answers there within the test's time.
    const created = createSender(createDestinations([], resolve), { ...sendLimits, connectMs: 50, totalMs: 100 });
    onTestFinished(() => created.close());
    const first = await post(created, `https://rebinding.example:${port}/`);
    expect(first.status).toBeNull();
    expect(asked).toEqual(['rebinding.example']);
    const second = await post(created, `https://rebinding.example:${port}/`);
    expect(second.error).toBe('rebinding.example is not a public address.');
    expect(sockets()).toBe(0);
  });

  test('the target of a redirect', async () => {
    const { port, requests } = await secretServer();
    const redirecting = createServer((_, response) =>
      response.writeHead(307, { location: `http://127.0.0.1:${port}/secret` }).end(),
    );
    onTestFinished(() => void redirecting.close());
    const first = await listen(redirecting);
    const outcome = await post(sender(['127.0.0.1/32']), `http://127.0.0.1:${first}/`);
    expect(outcome.status).toBe(307);
    expect(requests()).toBe(0);
  });

  test('a URL with another scheme', async () => {
    for (const url of ['file:///etc/passwd', 'ftp://example.com/', 'gopher://example.com/'])
      expect((await post(sender(), url)).error).toBe('Only https is supported.');
  });

  test('a proxy set in the environment', async () => {
    const { port, sockets } = await secretServer();
    const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'NODE_USE_ENV_PROXY'];
    for (const name of names) process.env[name] = name.includes('USE') ? '1' : `http://127.0.0.1:${port}`;
    onTestFinished(() => {
      for (const name of names) delete process.env[name];
    });
    const resolve = async () => [{ address: '192.0.2.1', family: 4 }];
    expect((await post(sender([], resolve), 'https://receiver.example/')).status).toBeNull();
    expect(sockets()).toBe(0);
  });
});

test('a request is sent to the addresses that were checked, one after the other, without another lookup', async () => {
  const { port } = await secretServer();
  // At the first one, nothing listens.
  const resolve = async () => ['127.0.0.2', '127.0.0.1'].map((address) => ({ address, family: 4 }));
  // No name server knows this host.
  expect((await post(sender(['127.0.0.0/8'], resolve), `http://receiver.example:${port}/`)).status).toBe(200);
});

test('concurrent lookups of a host are one, whose result is not kept', async () => {
  const asked: string[] = [];
  const answer = Promise.withResolvers<void>();
  const { resolve } = createDestinations([], async (host) => {
    asked.push(host);
    await answer.promise;
    throw new Error('no such host');
  });
  const lookups = ['slow.example', 'slow.example', 'other.example'].map(resolve);
  answer.resolve();
  expect((await Promise.allSettled(lookups)).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  await expect(resolve('slow.example')).rejects.toThrow('no such host');
  expect(asked).toEqual(['slow.example', 'other.example', 'slow.example']);
});

describe('a name server', () => {
  test('that is silent about some names delays no lookup of another, and none by the system', async () => {
    const { servers, asked, end } = await nameServer();
    const silent = Array.from({ length: 8 }, (_, index) => askNameServers(servers)(`${index}.silent.example`));
    await expect.poll(asked).toBeGreaterThanOrEqual(16);
    expect(await askNameServers(servers)('both.example')).toEqual([
      { address: '93.184.216.34', family: 4 },
      { address: '2606:2800::1', family: 6 },
    ]);
    expect(await lookup('localhost', { family: 4 })).toEqual({ address: '127.0.0.1', family: 4 });
    end();
    for (const one of await Promise.allSettled(silent)) expect(one.status).toBe('rejected');
  });

  test('may know only one kind of address, or none', async () => {
    const { servers } = await nameServer();
    expect(await askNameServers(servers)('four.example')).toEqual([{ address: '93.184.216.34', family: 4 }]);
    expect(await askNameServers(servers)('six.example')).toEqual([{ address: '2606:2800::1', family: 6 }]);
    await expect(askNameServers(servers)('none.example')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  test('need not know the names of this machine, which are accepted only if the operator allows its network', async () => {
    const { servers } = await nameServer();
    const { resolve } = createDestinations(['127.0.0.0/8', '::1/128'], orLocally(askNameServers(servers)));
    // The system reads this as an address, but no name server knows it.
    for (const host of ['localhost', '127.1'])
      expect(await resolve(host)).toContainEqual({ address: '127.0.0.1', family: 4 });
    // The system would wait for the same name server, and keep others waiting.
    const silence = Object.assign(new Error('It is silent.'), { code: 'ETIMEOUT' });
    await expect(orLocally(() => Promise.reject(silence))('localhost')).rejects.toBe(silence);
    const { resolve: resolvePublic } = createDestinations([], askNameServers(servers));
    await expect(resolvePublic('localhost')).rejects.toThrow('localhost is not a public address.');
  });
});

/** Knows four.example, six.example and both.example; until the end, it does not respond about silent.example. */
async function nameServer() {
  const socket = createSocket('udp4');
  const held: (() => void)[] = [];
  let isEnding = false;
  let asked = 0;
  socket.on('message', (query, { port, address }) => {
    asked += 1;
    const question = query.subarray(12, query.indexOf(0, 12) + 5);
    const [host = ''] = question.toString('latin1').split('\u0007example');
    const isIpv6 = question.at(-3) === 28;
    const data = isIpv6 ? '26062800000000000000000000000001' : '5db8d822';
    const isKnown = new RegExp(isIpv6 ? 'six|both' : 'four|both').test(host);
    // A pointer to the name in the question, the type, the class, the time to live, and the address.
    const record = Buffer.from(`c00c00${isIpv6 ? '1c' : '01'}0001000000000${isIpv6 ? '010' : '004'}${data}`, 'hex');
    const flags = Buffer.from(isKnown ? '81800001000100000000' : '81830001000000000000', 'hex');
    const respond = () =>
      socket.send(Buffer.concat([query.subarray(0, 2), flags, question, ...(isKnown ? [record] : [])]), port, address);
    if (host.includes('silent') && !isEnding) held.push(respond);
    else respond();
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  const end = () => {
    isEnding = true;
    for (const respond of held) respond();
  };
  return { servers: [`127.0.0.1:${socket.address().port}`], asked: () => asked, end };
}

test('an error is kept up to 200 characters', async () => {
  const failing = sender([], () => Promise.reject(new Error('x'.repeat(201))));
  expect((await post(failing, 'https://receiver.example/')).error).toHaveLength(200);
});

test.each([
  { host: '127.0.0.1', of: '127.0.0.1', isTrusted: true, expected: { status: 200, error: null } },
  { host: 'localhost', of: 'localhost', isTrusted: true, expected: { status: 200, error: null } },
  { host: 'localhost', of: '127.0.0.1', isTrusted: true, expected: { status: null, error: mismatch } },
  { host: '127.0.0.1', of: 'localhost', isTrusted: true, expected: { status: null, error: mismatch } },
  { host: 'localhost', of: 'localhost', isTrusted: false, expected: { status: null, error: selfSigned } },
] as const)(
  'a receiver needs a trusted certificate for its own host: $host, with that of $of, trusted: $isTrusted',
  async (which) => {
    const { host, of, isTrusted, expected } = which;
    const server = createTlsServer({ key: certificates[of], cert: certificates[of] }, (_, response) => {
      response.end();
    });
    onTestFinished(() => void server.close());
    const trusted = getCACertificates('default');
    onTestFinished(() => setDefaultCACertificates(trusted));
    if (isTrusted) setDefaultCACertificates([certificates[of]]);
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
    const to = sender(['127.0.0.1/32'], resolve);
    expect(await post(to, `https://${host}:${await listen(server)}/`)).toMatchObject(expected);
  },
);

test.each([
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /issuer .* not trusted, or .* intermediate certificate/],
  ['SELF_SIGNED_CERT_IN_CHAIN', /issuer .* not trusted/],
  ['ERR_TLS_CERT_ALTNAME_INVALID', /a different host name/],
  ['CERT_HAS_EXPIRED', /expired/],
])('a certificate with the error %s is described to the admin', async (code, sentence) => {
  const error = Object.assign(new Error('if the root CA is installed locally, try running Node.js with …'), { code });
  const failing = sender([], () => Promise.reject(error));
  expect((await post(failing, 'https://receiver.example/')).error).toMatch(sentence);
});

describe('a response', () => {
  async function respondingWith(respond: RequestListener): Promise<string> {
    const server = createServer(respond);
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${await listen(server)}/`;
  }

  test('is read up to 16 KB, and kept up to 2 KB', async () => {
    let written = 0;
    const url = await respondingWith((_, response) => {
      response.writeHead(200);
      const flood = () => {
        written += 65_536;
        if (!response.destroyed) response.write(Buffer.alloc(65_536, 'x'), () => setImmediate(flood));
      };
      flood();
    });
    const outcome = await post(sender(['127.0.0.1/32']), url);
    expect(outcome.status).toBe(200);
    expect(outcome.response).toHaveLength(2048);
    // What the operating system buffers, at most.
    expect(written).toBeLessThan(64 * 1024 * 1024);
  });

  test('is kept without NUL characters, which PostgreSQL cannot store', async () => {
    const url = await respondingWith((_, response) => void response.writeHead(500).end('a\0b'));
    expect(await post(sender(['127.0.0.1/32']), url)).toMatchObject({ status: 500, response: 'ab' });
  });

  test('that never ends counts by its status, and one that never begins is an error', async () => {
    const destinations = createDestinations(['127.0.0.1/32']);
    const quick = createSender(destinations, { ...sendLimits, totalMs: 300 });
    onTestFinished(() => quick.close());
    const endless = await respondingWith((_, response) => void response.writeHead(202).write('a'));
    expect(await post(quick, endless)).toMatchObject({ status: 202, response: 'a' });
    const silent = await respondingWith(() => undefined);
    const nameless = createSender(
      createDestinations([], () => new Promise(() => undefined)),
      { ...sendLimits, totalMs: 1 },
    );
    expect(await post(quick, silent)).toMatchObject({ status: null, error: 'No response within 0.3 seconds.' });
    const outcome = await post(nameless, 'https://receiver.example/');
    expect(outcome).toMatchObject({ status: null, error: 'No response within 0.001 seconds.' });
  });

  test('needs a connection within 10 seconds, but may itself arrive later', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const url = await respondingWith((_, response) => {
      vi.advanceTimersByTime(sendLimits.connectMs);
      response.end();
    });
    const to = sender(['127.0.0.1/32']);
    // The second time, on the same connection.
    for (const _ of [1, 2]) expect((await post(to, url)).status).toBe(200);
    const late = post(sender(['127.0.0.1/32']), url);
    // No connection is made between two ticks.
    while (vi.getTimerCount() === 0) await new Promise((resolve) => process.nextTick(resolve));
    vi.advanceTimersByTime(sendLimits.connectMs);
    expect((await late).error).toBe('No connection within 10 seconds.');
    // Nothing is left of a connection that is refused: it would keep the process running.
    expect((await post(to, 'http://127.0.0.1:1/')).error).toBe('The connection was refused.');
    await expect.poll(() => vi.getTimerCount()).toBe(0);
  });

  test('may follow a few interim ones, but not a flood of them', async () => {
    const to = sender(['127.0.0.1/32']);
    const few = await respondingWith((_, response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' });
      response.end();
    });
    expect((await post(to, few)).status).toBe(200);
    const flood = 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100);
    const many = await respondingWith((_, response) => void response.socket?.write(flood));
    expect(await post(to, many)).toMatchObject({
      status: null,
      error: 'Too many interim responses, such as 103 Early Hints.',
    });
  });

  test('that switches to another protocol is an error', async () => {
    const head = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
    const url = await respondingWith((_, response) => void response.socket?.write(head));
    expect(await post(sender(['127.0.0.1/32']), url)).toMatchObject({
      status: null,
      error: 'The connection was closed before a response.',
    });
  });

  test.each(['https', 'http'])('that is not HTTP is an error, over %s too', async (scheme) => {
    const plain = createTcpServer((socket) => void socket.on('error', () => {}).end('220 mail.example ready\r\n'));
    onTestFinished(() => void plain.close());
    const { error } = await post(sender(['127.0.0.1/32']), `${scheme}://127.0.0.1:${await listen(plain)}/`);
    expect(error).toMatch(scheme === 'https' ? /^The TLS handshake failed: / : 'The response is not HTTP.');
  });

  test('that is slow does not block other requests to its host', async () => {
    const held: { end: () => unknown }[] = [];
    const url = await respondingWith((_, response) => {
      if (held.push(response) === 50) for (const one of held) one.end();
    });
    const to = sender(['127.0.0.1/32']);
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => post(to, url)));
    expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set([200]));
  });

  test.each([
    ['120', 120],
    ['0', null],
    ['soon', null],
    // A date is relative to the response's own.
    ['Wed, 21 Oct 2015 07:30:00 GMT', 120],
    ['2015-10-21T07:28:00.100Z', 1],
    ['Wed, 21 Oct 2015 07:26:00 GMT', null],
  ])('with Retry-After: %s says to wait for %s seconds', async (header, retryAfterSeconds) => {
    const headers = { 'retry-after': header, date: 'Wed, 21 Oct 2015 07:28:00 GMT' };
    const url = await respondingWith((_, response) => void response.writeHead(503, headers).end());
    expect(await post(sender(['127.0.0.1/32']), url)).toMatchObject({ status: 503, retryAfterSeconds });
  });

  test('is requested again, over a new connection, only if a reused one closes without one', async () => {
    const used = new WeakSet<object>();
    const bodies: string[] = [];
    const url = await respondingWith((request, response) => {
      const isFirst = !used.has(request.socket);
      used.add(request.socket);
      request.setEncoding('utf8').on('data', (text: string) => bodies.push(text));
      request.on('end', () => (isFirst && request.url === '/' ? response.end() : request.socket.destroy()));
    });
    const to = sender(['127.0.0.1/32']);
    const send = (body: string) => to.send({ url, headers: {}, body });
    // Two connections are kept alive, and both close when they are reused.
    expect((await Promise.all([send('é'), send('é')])).map(({ status }) => status)).toEqual([200, 200]);
    expect((await send('ü')).status).toBe(200);
    const fresh = sender(['127.0.0.1/32']).send({ url: `${url}none`, headers: {}, body: 'ß' });
    expect((await fresh).error).toBe('The connection was closed before a response.');
    expect(bodies).toEqual(['é', 'é', 'ü', 'ü', 'ß']);
  });
});
