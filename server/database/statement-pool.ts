/**
 * A pool that pipelines brief statements. They share connections: each is sent without waiting for those before it, and
 * those sent together form one packet. Any other statement has a connection to itself, so nothing waits behind a search.
 * If a brief one takes long anyway, such as on a locked table, those behind it are sent again on other connections.
 */
import pg from 'pg';
import { decodeRows } from './messages.ts';
import { StatementNames } from './prepared.ts';
import type { Sharing, Statement } from './statement.ts';

type UnderWay = Pick<Statement<object>, 'repeat'>;
/** A connection in use by brief statements. */
type Shared = Sharing & {
  opened: Promise<pg.PoolClient>;
  client?: pg.PoolClient;
  /** In the order in which they were sent. */
  readonly underWay: Set<UnderWay>;
  readonly openedAtMs: number;
  /** Whether a statement has finished since the last check. */
  hasMoved: boolean;
  isCollecting: boolean;
  isBroken: boolean;
};

/** How many connections brief statements use before any two share one. */
export const sharedConnections = 2;
/** Maximum statements in flight on a shared connection. */
const depth = 8;
/** If nothing finishes between two checks, a statement is taking long. */
const checkedEveryMs = 50;

export class StatementPool extends pg.Pool {
  readonly names = new StatementNames();
  readonly #isSharing: boolean;
  #shared: Shared[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** `isSharing`: not for a pooler in transaction mode, which may split statements between connections. */
  constructor({ isSharing, ...options }: pg.PoolConfig & { isSharing: boolean }) {
    super({ ...options, pipeline: isSharing });
    this.#isSharing = isSharing;
    this.on('connect', decodeRows);
  }

  run<Row extends object>(statement: Statement<Row>, isBrief: boolean): Promise<Row[]> {
    return isBrief && this.#isSharing ? this.#share(statement) : this.#runAlone(statement);
  }

  async #runAlone<Row extends object>(statement: Statement<Row>): Promise<Row[]> {
    const client = await this.connect();
    try {
      const rows = await client.query(statement).result;
      client.release();
      return rows;
    } catch (error) {
      client.release(isHarmless(error) ? undefined : true);
      throw error;
    }
  }

  #share<Row extends object>(statement: Statement<Row>): Promise<Row[]> {
    const shared = this.#withRoom() ?? this.#open();
    shared.underWay.add(statement);
    statement.sharing = shared;
    const send = (client: pg.PoolClient) => {
      collect(shared, client);
      client.query(statement);
    };
    if (shared.client) send(shared.client);
    else shared.opened.then(send, (error: Error) => statement.handleError(error));
    return statement.result;
  }

  /** The shared connection with the fewest statements; undefined if another one should be opened. */
  #withRoom(): Shared | undefined {
    if (this.#shared.length < sharedConnections) return undefined;
    const fewest = this.#shared.reduce((one, other) => (other.underWay.size < one.underWay.size ? other : one));
    return fewest.underWay.size < depth ? fewest : undefined;
  }

  #open(): Shared {
    const opened = this.connect();
    const shared: Shared = {
      opened,
      underWay: new Set(),
      openedAtMs: performance.now(),
      hasMoved: true,
      isCollecting: false,
      isBroken: false,
      end: (statement, error) => this.#leave(shared, statement, error),
    };
    opened.then(
      (client) => (shared.client = client),
      () => undefined,
    );
    this.#shared.push(shared);
    this.#timer ??= setInterval(() => this.#check(), checkedEveryMs).unref();
    return shared;
  }

  /** Called when a statement has ended. Returns whether it is repeated elsewhere. */
  #leave(shared: Shared, statement: UnderWay, error: unknown): boolean {
    shared.underWay.delete(statement);
    shared.hasMoved = true;
    shared.isBroken ||= error !== undefined;
    if (shared.isBroken || shared.underWay.size === 0) this.#close(shared);
    if (shared.underWay.size === 0) shared.client?.release(shared.isBroken);
    // The statement that should have prepared it failed.
    const isUnprepared = codeOf(error) === '26000';
    if (isUnprepared) statement.repeat((again) => this.#runAlone(again));
    return isUnprepared;
  }

  /** Sends it no more statements. */
  #close(shared: Shared): void {
    this.#shared = this.#shared.filter((one) => one !== shared);
    if (this.#shared.length > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #check(): void {
    const { maxLifetimeSeconds } = this.options;
    const oldest = performance.now() - (maxLifetimeSeconds || Infinity) * 1000;
    for (const shared of this.#shared) {
      if (!shared.hasMoved) this.#repeatElsewhere(shared);
      // Under a constant load it is never free, so the pool could not replace it.
      else if (shared.openedAtMs < oldest) this.#close(shared);
      shared.hasMoved = false;
    }
  }

  /** Repeats what waits behind a slow statement on other connections; the result that comes first counts. */
  #repeatElsewhere(shared: Shared): void {
    this.#close(shared);
    const [, ...behind] = shared.underWay;
    for (const statement of behind) statement.repeat((again) => this.#runAlone(again));
  }
}

/** Combines what requests that arrived together send into one write. */
function collect(shared: Shared, { connection: { stream } }: pg.PoolClient): void {
  if (shared.isCollecting) return;
  shared.isCollecting = true;
  stream.cork();
  setImmediate(() => {
    shared.isCollecting = false;
    stream.uncork();
  });
}

/** After a constraint violation, the connection is still usable; after anything else, it may not be. */
export const isHarmless = (error: unknown): boolean => codeOf(error).startsWith('23');

const codeOf = (error: unknown): string => String(Reflect.get(Object(error), 'code'));
