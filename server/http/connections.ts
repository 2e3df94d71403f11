/** Limits connections per network, so no client can use up the file descriptors of the process. */
import type { IncomingMessage, Server } from 'node:http';
import { networkOf } from '../limits/network.ts';

type Options = {
  mostOfNetwork: number;
  /** If there are any, all connections come from them, and limiting clients is up to them. */
  trustedProxies: number;
  warn: (message: string) => void;
};

export function limitConnections(server: Server, { mostOfNetwork, trustedProxies, warn }: Options): void {
  if (trustedProxies > 0) return;
  const open = new Map<string, number>();
  let isTold = false;
  server.on('connection', (socket) => {
    const network = networkOf(socket.remoteAddress ?? '');
    const count = (open.get(network) ?? 0) + 1;
    if (count > mostOfNetwork) {
      socket.destroy();
      if (!isTold)
        warn(
          `${network} has ${mostOfNetwork} connections, the most allowed by CONNECTIONS_PER_NETWORK: further ones are closed.`,
        );
      isTold = true;
      return;
    }
    open.set(network, count);
    socket.once('close', () => {
      const left = (open.get(network) ?? 1) - 1;
      if (left > 0) open.set(network, left);
      else open.delete(network);
    });
  });
}

/** Warns once about a proxy that is not configured. */
export function warnAboutProxies({ trustedProxies, warn }: Omit<Options, 'mostOfNetwork'>) {
  let isTold = trustedProxies > 0;
  return ({ headers }: IncomingMessage): void => {
    if (!isTold && headers['x-forwarded-for'] !== undefined) {
      isTold = true;
      warn(
        'A request has X-Forwarded-For, but TRUSTED_PROXIES is 0: limits by address count the proxy. If a proxy is in front, set TRUSTED_PROXIES.',
      );
    }
  };
}
