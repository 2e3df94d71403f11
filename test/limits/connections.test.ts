/** Connections per network are limited, and the operator is told of a proxy that the service does not trust. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { networkOf } from '../../server/limits/network.ts';
import { useWorld } from '../world.ts';

const warnings: string[] = [];
const warn = (message: string) => warnings.push(message);

describe('a network with three connections', () => {
  const world = useWorld({ connectionsPerNetwork: 3, warn });
  const proxied = useWorld({ connectionsPerNetwork: 3, trustedProxies: 1 });

  /** A connection, and whether the server responded on it. */
  async function open({ url } = world) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    const ended = new Promise<false>((resolve) => void socket.once('close', () => resolve(false)));
    const served = new Promise<true>((resolve) => void socket.once('data', () => resolve(true)));
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    return { socket, isServed: await Promise.race([served, ended]) };
  }

  test('gets no fourth until one has ended, and then only one for each, which is logged once', async () => {
    const three = [await open(), await open(), await open()];
    expect(three.map(({ isServed }) => isServed)).toEqual([true, true, true]);
    expect([(await open()).isServed, (await open()).isServed]).toEqual([false, false]);
    expect(warnings.filter((message) => message.includes('CONNECTIONS_PER_NETWORK'))).toHaveLength(1);
    // A connection that is reset has no end before it closes.
    for (const { socket } of three.splice(0, 2)) socket.resetAndDestroy();
    await expect
      .poll(async () => {
        const opened = await open();
        if (opened.isServed) three.push(opened);
        return three.length;
      })
      .toBe(3);
    expect((await open()).isServed).toBe(false);
    await Promise.all(
      three.map(async ({ socket }) => {
        const closed = once(socket, 'close');
        socket.destroy();
        await closed;
      }),
    );
  });

  test('gets any number through a trusted proxy, which limits them', async () => {
    const four = [await open(proxied), await open(proxied), await open(proxied), await open(proxied)];
    expect(four.map(({ isServed }) => isServed)).toEqual([true, true, true, true]);
    for (const { socket } of four) socket.destroy();
  });
});

describe('X-Forwarded-For', () => {
  const unknown = useWorld({ warn });
  const trusted = useWorld({ warn, trustedProxies: 1 });

  test('is reported once if no proxy is trusted', async () => {
    warnings.length = 0;
    const headers = { 'x-forwarded-for': '192.0.2.1' };
    for (const { url } of [trusted, unknown, unknown]) await fetch(`${url}/healthz`, { headers });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('TRUSTED_PROXIES');
  });
});

test('an IPv4 client of a server that listens on :: has its own network', () => {
  expect(networkOf('::ffff:192.0.2.1')).toBe('192.0.2.1');
  expect(networkOf('2001:db8:1:2:3:4:5:6')).toBe(networkOf('2001:db8:1:2::1'));
  // A proxy may write it in either case.
  expect(networkOf('::FFFF:192.0.2.1')).toBe('192.0.2.1');
  expect(networkOf('2001:DB8:1:2::1')).toBe(networkOf('2001:db8:1:2::1'));
  expect(networkOf('::1')).toBe('0:0:0:0');
  // As Azure's application gateway writes them into X-Forwarded-For: each connection has another port.
  expect(networkOf('192.0.2.1:50312')).toBe('192.0.2.1');
  expect(networkOf('[2001:db8:1:2::1]:50312')).toBe(networkOf('2001:db8:1:2::1'));
});
