/** A TCP link to a server, which can be cut without either end noticing. */
import { connect, createServer } from 'node:net';
import type { NetConnectOpts, Socket } from 'node:net';
import { listen } from '../ports.ts';

export type Link = {
  port: number;
  /** From now on, nothing gets through; connections stay open at both ends, and new ones get no response. */
  cut(): void;
  /** New connections work again; old ones stay dead, closed only on the server's side. */
  mend(): void;
  close(): void;
};

export async function openLink(target: NetConnectOpts): Promise<Link> {
  const sockets = new Set<Socket>();
  const toServer = new Set<Socket>();
  let isCut = false;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    return socket;
  };
  const server = createServer((near) => {
    keep(near);
    near.resume();
    if (isCut) return;
    const far = keep(connect(target));
    toServer.add(far);
    near.pipe(far).on('close', () => near.destroy());
    far.pipe(near);
  });
  const port = await listen(server);
  return {
    port,
    cut() {
      isCut = true;
      // Incoming data is read and dropped, and an end is not forwarded.
      for (const socket of sockets) socket.unpipe().removeAllListeners('end').resume();
    },
    mend() {
      isCut = false;
      // The server's TCP keep-alive ends its side within a minute. The service's side stays open and silent.
      for (const socket of toServer) socket.removeAllListeners('close').destroy();
      toServer.clear();
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
