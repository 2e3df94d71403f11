/** Which key is whose: one statement, or none where nothing about keys has changed since it was last asked. */
import type pg from 'pg';
import type { Plan } from '../../contract/me.ts';
import { toRfc3339 } from '../entities/timestamp.ts';

export type AuthenticatedKey = {
  id: string;
  name: string;
  prefix: string;
  lastFour: string;
  createdAt: string;
  lastUsedAt: string | null;
  revokedAt: string | null;
  endsAt: string | null;
  organization: { id: string; name: string; slug: string; currency: string; plan: Plan; createdAt: string };
  /** Monotonic time at which a replaced key stops working; Infinity for a key that works until it is revoked. */
  endsAtMs: number;
  /** Monotonic time at which `lastUsedAt` was last written from here. */
  touchedAtMs: number;
};

/** A change of a key or a plan is in force within this time on every process, because the epoch is read anew. */
const trustMs = 500;
const touchMs = 60_000;
const capacity = 20_000;

const lookup = `select e.epoch, k.id, k.name, k.prefix, k.last_four as "lastFour", k.created_at::text as "createdAt",
  k.last_used_at::text as "lastUsedAt", k.revoked_at::text as "revokedAt",
  k.ends_at::text as "endsAt", (extract(epoch from k.ends_at - now()) * 1000)::float8 as "endsInMs", o.id as "organizationId",
  o.name as "organizationName", o.slug, o.currency, o.plan, o.created_at::text as "organizationCreatedAt"
  from access_epoch e left join api_keys k on k.hash = $1 left join organizations o on o.id = k.organization_id`;
const touch = `update api_keys set last_used_at = now()
  where organization_id = $2 and id = $1 and (last_used_at is null or last_used_at < now() - interval '60 seconds') returning last_used_at::text as "lastUsedAt"`;

export class KeyDirectory {
  readonly #pool: pg.Pool;
  readonly #clock: () => number;
  readonly #known = new Map<string, AuthenticatedKey>();
  #epoch = '';
  #verifiedAtMs = Number.NEGATIVE_INFINITY;
  #verifying: Promise<void> | undefined;
  #generation = 0;

  constructor(pool: pg.Pool, clock: () => number) {
    this.#pool = pool;
    this.#clock = clock;
  }

  /** How many keys need no lookup. */
  get size(): number {
    return this.#known.size;
  }

  /** The key with this hash, revoked or not; undefined where there is none. */
  async find(hash: string): Promise<AuthenticatedKey | undefined> {
    if (this.#known.has(hash) && this.#clock() - this.#verifiedAtMs >= trustMs) await this.#verify();
    const known = this.#known.get(hash) ?? (await this.#read(hash));
    // Nothing in the database changes when a replaced key ends.
    if (known && this.#clock() >= known.endsAtMs) known.revokedAt ??= known.endsAt;
    if (known) this.#touch(known);
    return known;
  }

  /** Forgets every key: what this process itself changed is in force at its next request. */
  forget(): void {
    this.#generation += 1;
    this.#known.clear();
  }

  /** One statement for all the requests that wait for it. */
  #verify(): Promise<void> {
    this.#verifying ??= this.#readEpoch().finally(() => {
      this.#verifying = undefined;
    });
    return this.#verifying;
  }

  async #readEpoch(): Promise<void> {
    const startedAtMs = this.#clock();
    const { rows } = await this.#pool.query<{ epoch: string }>({
      name: 'access-epoch',
      text: 'select epoch from access_epoch',
    });
    this.#trust(rows[0]?.epoch ?? '', startedAtMs);
  }

  #trust(epoch: string, startedAtMs: number): void {
    if (epoch !== this.#epoch) {
      // An answer that was overtaken by a later one must not bring older keys back.
      if (BigInt(epoch || 0) < BigInt(this.#epoch || 0)) return;
      this.#known.clear();
      this.#epoch = epoch;
    }
    this.#verifiedAtMs = Math.max(this.#verifiedAtMs, startedAtMs);
  }

  async #read(hash: string): Promise<AuthenticatedKey | undefined> {
    const startedAtMs = this.#clock();
    const generation = this.#generation;
    const { rows } = await this.#pool.query<Row>({ name: 'access-key', text: lookup, values: [hash] });
    const [row] = rows;
    if (row) this.#trust(row.epoch, startedAtMs);
    if (!row?.id) return undefined;
    const key = toKey(row, startedAtMs);
    // A key that was read before a change that is known by now is good for this one request only.
    if (row.epoch === this.#epoch && generation === this.#generation) {
      if (this.#known.size >= capacity) this.#known.clear();
      this.#known.set(hash, key);
    }
    return key;
  }

  /** Not awaited: a request does not wait for the note that it was made, and does not fail with it. */
  #touch(key: AuthenticatedKey): void {
    const nowMs = this.#clock();
    if (key.revokedAt || nowMs - key.touchedAtMs < touchMs) return;
    key.touchedAtMs = nowMs;
    this.#pool
      .query<{ lastUsedAt: string }>({ name: 'access-touch', text: touch, values: [key.id, key.organization.id] })
      .then(
        ({ rows }) => {
          if (rows[0]) key.lastUsedAt = toRfc3339(rows[0].lastUsedAt);
        },
        () => {
          key.touchedAtMs = Number.NEGATIVE_INFINITY;
        },
      );
  }
}

type Row = Omit<AuthenticatedKey, 'organization' | 'touchedAtMs' | 'endsAtMs'> & {
  endsInMs: number | null;
  epoch: string;
  organizationId: string;
  organizationName: string;
  organizationCreatedAt: string;
} & Pick<AuthenticatedKey['organization'], 'slug' | 'currency' | 'plan'>;

function toKey(row: Row, readAtMs: number): AuthenticatedKey {
  const { id, name, prefix, lastFour, createdAt, lastUsedAt, revokedAt, endsAt, endsInMs, slug, currency, plan } = row;
  return {
    id,
    name,
    prefix,
    lastFour,
    createdAt: toRfc3339(createdAt),
    lastUsedAt: lastUsedAt && toRfc3339(lastUsedAt),
    revokedAt: revokedAt && toRfc3339(revokedAt),
    endsAt: endsAt && toRfc3339(endsAt),
    endsAtMs: endsInMs === null ? Number.POSITIVE_INFINITY : readAtMs + endsInMs,
    organization: {
      id: row.organizationId,
      name: row.organizationName,
      slug,
      currency,
      plan,
      createdAt: toRfc3339(row.organizationCreatedAt),
    },
    touchedAtMs: Number.NEGATIVE_INFINITY,
  };
}
