/** A dedicated connection for an organization's long-running work, with its own transactions and COPY. */
import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { OrganizationId } from '../entities/owned.ts';
import { changeInactivityLimit } from './pool.ts';
import { typeParsers } from './prepared.ts';

export type Session = {
  readonly organizationId: OrganizationId;
  /** Runs a statement whose `$1` is the organization's id; rows are arrays, in the order of its columns. */
  query(text: string, values?: readonly unknown[]): Promise<unknown[][]>;
  /** Runs statements that take no values, such as the creation of a temporary table. */
  command(text: string): Promise<void>;
  /** Streams lines in COPY's text format. */
  copy(text: string, lines: Iterable<string>): Promise<void>;
  /** `startedAt` is the transaction's `now()`, as stored: the updatedAt of what it writes. */
  transaction<T>(work: (startedAt: string) => Promise<T>): Promise<T>;
};

/** Longer than the pool's limit for requests: a chunk of an import maintains many indexes at once. */
const statementTimeoutMs = 10 * 60_000;

/** Opens a connection for `work` alone and closes it afterward, together with its session state. */
export async function withSession<T>(
  pool: pg.Pool,
  organizationId: OrganizationId,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const { session, close } = await openSession(pool, organizationId);
  try {
    const result = await work(session);
    // The server closes the connection, and releases the locks that others wait for, a little after this returns.
    await session.command('select pg_advisory_unlock_all()').catch(ignoreFailure);
    return result;
  } finally {
    close();
  }
}

/** The same for work that ends elsewhere; `close` also ends an open transaction. */
export async function openSession(
  pool: pg.Pool,
  organizationId: OrganizationId,
): Promise<{ session: Session; close: () => void }> {
  const client = await pool.connect();
  // Without a listener, a connection that ends between two statements would end the process.
  const ignore = () => undefined;
  client.on('error', ignore);
  const close = () => {
    client.off('error', ignore);
    client.release(true);
  };
  try {
    const idle = `set idle_in_transaction_session_timeout = ${statementTimeoutMs}`;
    await client.query(`set statement_timeout = ${statementTimeoutMs}; ${idle}`);
    changeInactivityLimit(client, statementTimeoutMs + 1_000);
    return { session: sessionOn(client, organizationId), close };
  } catch (error) {
    close();
    throw error;
  }
}

function sessionOn(client: pg.ClientBase, organizationId: OrganizationId): Session {
  const command = async (text: string) => void (await client.query(text));
  return {
    organizationId,
    command,
    async query(text, values = []) {
      const { rows } = await client.query({
        text,
        values: [organizationId, ...values],
        types: typeParsers,
        rowMode: 'array',
      });
      return rows;
    },
    copy: (text, lines) => pipeline(Readable.from(blocksOf(lines)), client.query(copyFrom(text))),
    async transaction(work) {
      try {
        const result = await work(await begin(client));
        await command('commit');
        return result;
      } catch (error) {
        // If the connection itself failed, the first error says more than this one.
        await command('rollback').catch(ignoreFailure);
        throw error;
      }
    },
  };
}

/** Returns the transaction's `now()`; both statements take one round trip. */
async function begin(client: pg.ClientBase): Promise<string> {
  const text = 'begin; select now()::timestamptz(3)';
  // One result per statement, which pg's types do not cover.
  const results: unknown = await client.query({ text, types: typeParsers, rowMode: 'array' });
  const [, { rows: [[now = ''] = []] = [] } = {}] = results as { rows?: string[][] }[];
  return now;
}

const ignoreFailure = () => undefined;
const blockLength = 64 * 1024;

/** Joins lines into blocks: a write for each line would cost more than the line itself. */
function* blocksOf(lines: Iterable<string>): Generator<Buffer> {
  let block = '';
  for (const line of lines) {
    block += line;
    if (block.length < blockLength) continue;
    yield Buffer.from(block);
    block = '';
  }
  if (block !== '') yield Buffer.from(block);
}
