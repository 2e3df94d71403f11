/** Looks up keys: with one statement, or none if no key has changed since this one was read. */
import type pg from 'pg';
import { typeParsers } from '../database/prepared.ts';
import { currentEpoch, lookup, toKey } from './key-row.ts';
import type { AuthenticatedKey, KeyRow } from './key-row.ts';
import { LastUses } from './last-uses.ts';

/** A change to a key or a plan takes effect in every process within this time, because the epoch is read again. */
const trustMs = 500;
const capacity = { keys: 20_000, unknown: 5_000, lookup: 1_000 };

type Verified = Pick<KeyRow, 'epoch' | 'nowMs'>;

/**
 * The keys that were read at one epoch of the database. Any other epoch empties the cache, even one that was current
 * before: the database may have been restored or failed over to an older copy.
 */
export class KeyDirectory {
  readonly #pool: pg.Pool;
  readonly #clock: () => number;
  readonly #lastUses: LastUses;
  readonly #known = new Map<string, AuthenticatedKey>();
  /** Hashes that no key has: looking them up again costs no statement. */
  readonly #unknown = new Set<string>();
  #epoch: string | undefined;
  #verifiedAtMs = Number.NEGATIVE_INFINITY;
  /** How far the database's clock was ahead of this one then; it changes if that clock is set, or this machine sleeps. */
  #aheadMs = 0;
  #verifying: Promise<void> | undefined;
  /** Statements sent so far, and the latest of them whose result was used. */
  #sent = 0;
  #used = 0;
  /** Hashes for the next lookup, and whether a lookup is running. */
  readonly #waiting = new Map<string, PromiseWithResolvers<AuthenticatedKey | undefined>>();
  #reading = false;

  constructor(pool: pg.Pool, clock: () => number) {
    this.#pool = pool;
    this.#clock = clock;
    this.#lastUses = new LastUses(pool, clock);
  }

  get size(): number {
    return this.#known.size;
  }

  /** The key with this hash, revoked or not; undefined if there is none. */
  async find(hash: string): Promise<AuthenticatedKey | undefined> {
    const isCached = this.#known.has(hash) || this.#unknown.has(hash);
    if (isCached && this.#clock() - this.#verifiedAtMs >= trustMs) await this.#verify();
    if (this.#unknown.has(hash)) return undefined;
    const key = this.#known.get(hash) ?? (await this.#read(hash));
    if (key && this.#clock() + this.#aheadMs >= key.endsAtMs) {
      // Nothing in the database changes when a replaced or expiring key ends.
      key.revokedAt ??= key.endsAt;
      // Read again by the next request: the database's clock may have been wrong.
      this.#known.delete(hash);
    }
    if (key) this.#lastUses.note(key);
    return key;
  }

  /** Forgets every key, so that this process's own changes take effect at its next request. */
  forget(): void {
    this.#empty(undefined);
    // Results still in flight were read before the change.
    this.#used = this.#sent + 1;
  }

  /** Writes pending last-use times. */
  close(): Promise<void> {
    return this.#lastUses.write();
  }

  #empty(epoch: string | undefined): void {
    this.#known.clear();
    this.#unknown.clear();
    this.#epoch = epoch;
  }

  /** One statement for all the requests that wait for it. */
  #verify(): Promise<void> {
    return (this.#verifying ??= this.#readEpoch().finally(() => (this.#verifying = undefined)));
  }

  async #readEpoch(): Promise<void> {
    const question = this.#ask();
    const statement = { name: 'access-epoch', text: `select ${currentEpoch}` };
    const { rows } = await this.#pool.query<Verified>(statement);
    this.#learn(rows[0], question);
  }

  #ask(): { number: number; atMs: number } {
    this.#sent += 1;
    return { number: this.#sent, atMs: this.#clock() };
  }

  /** Returns whether the directory now holds keys of this epoch. A result counts unless a later statement's was used. */
  #learn(verified: Verified | undefined, { number, atMs }: { number: number; atMs: number }): boolean {
    if (verified === undefined) throw new Error('access_epoch has no row: no key can be trusted.');
    if (number < this.#used) return false;
    this.#used = number;
    if (verified.epoch !== this.#epoch) this.#empty(verified.epoch);
    this.#verifiedAtMs = atMs;
    this.#aheadMs = verified.nowMs - atMs;
    return true;
  }

  /**
   * One statement at a time looks up all waiting hashes: a flood of unknown keys makes it longer, but takes no other
   * connection, and causes no valid key to be rejected.
   */
  #read(hash: string): Promise<AuthenticatedKey | undefined> {
    const waiting = this.#waiting.get(hash) ?? Promise.withResolvers<AuthenticatedKey | undefined>();
    this.#waiting.set(hash, waiting);
    if (!this.#reading) void this.#readAll();
    return waiting.promise;
  }

  async #readAll(): Promise<void> {
    this.#reading = true;
    while (this.#waiting.size > 0) {
      const batch = new Map([...this.#waiting].slice(0, capacity.lookup));
      for (const hash of batch.keys()) this.#waiting.delete(hash);
      try {
        const found = await this.#lookUp([...batch.keys()]);
        for (const [hash, { resolve }] of batch) resolve(found.get(hash));
      } catch (error) {
        for (const { reject } of batch.values()) reject(error);
      }
    }
    this.#reading = false;
  }

  async #lookUp(hashes: string[]): Promise<Map<string, AuthenticatedKey>> {
    const question = this.#ask();
    const statement = { name: 'access-keys', text: lookup, values: [hashes], types: typeParsers };
    const { rows } = await this.#pool.query<KeyRow>(statement);
    // A key read before a change that is now known is valid for this one request only.
    const isCurrent = this.#learn(rows[0], question);
    const found = new Map(rows.flatMap((row) => (row.id ? [[row.hash, toKey(row)] as const] : [])));
    if (!isCurrent) return found;
    for (const hash of hashes) {
      const key = found.get(hash);
      if (key) remember(this.#known, capacity.keys).set(hash, key);
      else remember(this.#unknown, capacity.unknown).add(hash);
    }
    return found;
  }
}

/** Starts over when full: bounded, without bookkeeping for each request. */
function remember<Cache extends { size: number; clear(): void }>(cache: Cache, limit: number): Cache {
  if (cache.size >= limit) cache.clear();
  return cache;
}
