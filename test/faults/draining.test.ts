/** A shutdown while connections are idle. */
import { connect } from 'node:net';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { useWorld } from '../world.ts';

const world = useWorld({ timeouts: { grace: 60_000, drain: 60_000 } });

test('an idle connection may send one more request, and the response closes it', async () => {
  const { port } = new URL(world.url);
  const socket = connect(Number(port), '127.0.0.1');
  const read = async () => String((await once(socket, 'data'))[0]);
  socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
  expect(await read()).toMatch(/^HTTP\/1.1 200 [\s\S]*\r\nConnection: keep-alive\r\n/);
  const closed = world.serving.close();
  socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
  expect(await read()).toMatch(/^HTTP\/1.1 200 [\s\S]*\r\nConnection: close\r\n/);
  await once(socket, 'close');
  // The last connection is gone, so nothing waits for the rest of the grace period.
  await closed;
});
