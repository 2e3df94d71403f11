/** Corrects what pg and its pools get wrong. */
import { isIP } from 'node:net';
import pg from 'pg';
import { Statement } from './statement.ts';

/** pg does not tell TLS the IP address of a server: its certificate would have to be that of `localhost`. */
export class Client extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    const { connection, host, ssl } = this;
    if (ssl && isIP(host)) Object.assign(connection, { ssl: { ...Object(ssl), host } });
  }
}

/**
 * pg-pool counts a connection as in use until it is released, even after it has ended. This takes it back. Kysely, under
 * MikroORM, does not release a connection on which begin, commit or rollback fails (kysely-org/kysely#1990): each one
 * would permanently occupy a slot in the pool.
 */
export function releaseEndedConnections(pool: pg.Pool): void {
  const inUse = new WeakSet<pg.PoolClient>();
  pool.on('acquire', (client) => inUse.add(client));
  pool.on('release', (_, client) => inUse.delete(client));
  pool.on('connect', (client) => {
    // Without a listener, a connection that fails between two statements of a transaction would end the process.
    client.on('error', () => undefined);
    client.once('end', () => {
      if (!inUse.has(client)) return;
      client.release(true);
      // Its user may still release it, which pg-pool accepts only once.
      client.release = () => undefined;
    });
  });
}

/**
 * Ends a connection on which nothing was sent or received for this long: the server is frozen, or the network broke the
 * connection silently. pg's own `query_timeout` would leave the connection in the pool, still waiting.
 */
export function limitInactivity(client: Pick<pg.Client, 'connection'>, limitMs: number): void {
  const { stream } = client.connection;
  stream.on('timeout', () => {
    const seconds = Number(Reflect.get(stream, 'timeout')) / 1000;
    const message = `The database sent nothing for ${seconds} seconds.`;
    stream.destroy(Object.assign(new Error(message), { code: 'ETIMEDOUT' }));
  });
  changeInactivityLimit(client, limitMs);
}

/** Runs the first statement of a connection within the limit. A pool's event `connect` comes only after that statement. */
export const beginWith = (text: string, limitMs: number | false) => ({
  async onConnect(client: pg.ClientBase): Promise<void> {
    if (client instanceof Client && limitMs !== false) limitInactivity(client, limitMs);
    await client.query(text);
  },
});

/** Sets a different limit for one connection, for statements that may take longer than a request. */
export function changeInactivityLimit({ connection }: Pick<pg.Client, 'connection'>, limitMs: number): void {
  const { stream } = connection;
  if ('setTimeout' in stream && typeof stream.setTimeout === 'function') stream.setTimeout(limitMs);
}

/** For a pooler that may give each transaction a different connection, which may not know a statement by this name. */
export function stripStatementNames(pool: pg.Pool): void {
  pool.on('connect', (client) => {
    const query: (statement: unknown, ...rest: unknown[]) => unknown = client.query.bind(client);
    // The same overloads: only the name is left out.
    client.query = ((statement: unknown, ...rest: unknown[]) =>
      query(withoutName(statement), ...rest)) as typeof client.query;
  });
}

function withoutName(statement: unknown): unknown {
  if (statement instanceof Statement) statement.name = '';
  else if (typeof statement === 'object' && statement !== null) return { ...statement, name: undefined };
  return statement;
}
