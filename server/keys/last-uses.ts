/** When keys were last used: recorded at most once a minute per key, and written in batches in the background. */
import type pg from 'pg';
import { typeParsers } from '../database/prepared.ts';

type Used = { id: string; lastUsedAt: string | null; organization: { id: string } };

const againAfterMs = 60_000;
const writtenEveryMs = 250;

const text = `update api_keys k set last_used_at = now() from unnest($1::uuid[], $2::uuid[]) as used (organization_id, id)
  where k.organization_id = used.organization_id and k.id = used.id
    and (k.last_used_at between now() - interval '60 seconds' and now() + interval '60 seconds') is not true
  returning k.id, k.last_used_at as "lastUsedAt"`;

export class LastUses {
  readonly #pool: pg.Pool;
  readonly #clock: () => number;
  readonly #notedAtMs = new WeakMap<Used, number>();
  #pending: Used[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(pool: pg.Pool, clock: () => number) {
    this.#pool = pool;
    this.#clock = clock;
  }

  note(key: Used): void {
    const nowMs = this.#clock();
    if (nowMs - (this.#notedAtMs.get(key) ?? Number.NEGATIVE_INFINITY) < againAfterMs) return;
    this.#notedAtMs.set(key, nowMs);
    this.#pending.push(key);
    this.#timer ??= setTimeout(() => void this.write(), writtenEveryMs).unref();
  }

  /** A use that cannot be written is recorded again with the next request; the request does not fail. */
  async write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const keys = this.#pending.splice(0);
    if (keys.length === 0) return;
    const values = [keys.map(({ organization }) => organization.id), keys.map(({ id }) => id)];
    try {
      const { rows } = await this.#pool.query<{ id: string; lastUsedAt: string }>({ text, values, types: typeParsers });
      const times = new Map(rows.map(({ id, lastUsedAt }) => [id, lastUsedAt]));
      for (const key of keys) key.lastUsedAt = times.get(key.id) ?? key.lastUsedAt;
    } catch {
      for (const key of keys) this.#notedAtMs.delete(key);
    }
  }
}
