/** Starting to listen, and draining. */
import { once } from 'node:events';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { UsageError } from '../config.ts';
import type { TrackedResponses } from './unparsed.ts';

type Address = { host: string; port: number };

/** Throws a UsageError that names this variable if the port cannot be used. */
export function listen(
  server: NetServer,
  { host, port }: Address,
  variable: 'PORT' | 'METRICS_PORT' = 'PORT',
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: Error & { code?: string }) => {
      const taken =
        error.code === 'EADDRINUSE' &&
        `Port ${port} is already taken; choose another with ${variable}, for example ${variable}=${port + 1}.`;
      const forbidden =
        error.code === 'EACCES' &&
        `This user is not allowed to listen on port ${port}; choose one above 1023 with ${variable}.`;
      const elsewhere = `Cannot listen: ${error.message}. HOST must be an address of this machine, without brackets or a port.`;
      reject(new UsageError(taken || forbidden || elsewhere));
    });
    server.listen(port, host, resolve);
  });
}

/** Fails like listen(), but before a database is created or migrated in vain. Returns the actual port, even for 0. */
export async function requireFreePort(address: Address, variable?: 'METRICS_PORT'): Promise<number> {
  const server = new NetServer();
  await listen(server, address, variable);
  const port = portOf(server);
  await once(server.close(), 'close');
  return port;
}

/** A server that listens on a port has an AddressInfo; a string is for pipes only. */
const portOf = (server: NetServer): number => (server.address() as AddressInfo).port;

export const addressOf = (server: Server, host: string): string => urlOf(host, portOf(server));

/** The URL at which people reach a server that listens there. */
export function urlOf(host: string, port: number): string {
  const name = ['0.0.0.0', '::', '127.0.0.1'].includes(host) ? 'localhost' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/**
 * Stops listening, and finishes the requests in flight. A proxy may be about to use an idle connection, so for `grace` ms
 * it may still send a request, whose response has `Connection: close`. After `drain` ms, all connections are closed.
 */
export function drain(
  server: Server,
  responses: TrackedResponses,
  { grace, drain: limit }: { grace: number; drain: number },
): Promise<void> {
  for (const response of responses.inFlight()) {
    if (!response.headersSent) response.setHeader('Connection', 'close');
  }
  return new Promise((resolve) => {
    const timers = [
      setTimeout(() => server.close(), grace),
      setTimeout(() => server.closeAllConnections(), Math.max(limit, grace)),
    ];
    // An http.Server's own close() would close idle connections immediately.
    NetServer.prototype.close.call(server, () => {
      for (const timer of timers) clearTimeout(timer);
      server.close();
      resolve();
    });
  });
}

/** Gives the app every request, including those with an Expect header. */
export function attach(server: Server, app: RequestListener): void {
  server.on('request', inTurn(app));
  // Node would respond to an unknown Expect header itself, and not in JSON.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('checkContinue', (request, response) => {
    continueOnceRead(request, response);
    server.emit('request', request, response);
  });
}

/** Requests of one connection that wait for the one before them. Hardly any client sends more than one at a time. */
const mostWaiting = 100;

/**
 * Serves the requests of a connection one by one, and closes one with too many: a client that sends a thousand at once and
 * reads no response would fill the memory.
 */
function inTurn(app: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, number>();
  return (request, response) => {
    const { socket } = request;
    // A response gets the connection once those before it are complete.
    if (response.socket) return app(request, response);
    const count = waiting.get(socket) ?? 0;
    if (count === mostWaiting) return void socket.destroy();
    waiting.set(socket, count + 1);
    response.once('socket', () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
      process.nextTick(app, request, response);
    });
  };
}

/**
 * `Expect: 100-continue`: if the headers are enough to reject a request, its body is never sent. Node then closes the
 * connection, on which the body could be taken for the next request.
 */
function continueOnceRead(request: IncomingMessage, response: ServerResponse): void {
  request.once('resume', () => {
    if (!response.headersSent) response.writeContinue();
  });
}
