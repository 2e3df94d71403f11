/** The ports of servers that tests start. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';

/** Listens on a free port of this machine, and returns it. */
export async function listen(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  // A server that listens on a port has an AddressInfo.
  return (server.address() as AddressInfo).port;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await once(server.close(), 'close');
  return port;
}
