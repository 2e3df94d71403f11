/**
 * Idempotency-Key: the answer of a create is stored in the create's own transaction, so that either both are there or
 * neither. A transaction-level lock says whether the same request is still running; it ends with its connection.
 */
import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { UniqueConstraintViolationException } from '@mikro-orm/core';
import type { Caller } from '../keys/caller.ts';
import { IdempotencyKey } from '../entities/idempotency-key.ts';
import { Problem } from '../problems/problem.ts';

export type Stored<Body> = { status: 200 | 201; body: Body; location?: string; replayed?: boolean };

/** What makes a request the same: method and path, and everything that it asks for. */
export type Repeatable = { key: string | undefined; operation: string; asked: unknown };

/**
 * Does `work` in one transaction. With a key, a repeat gets the stored answer. Problems: idempotency_key_reused,
 * idempotency_in_progress.
 */
export async function once<Body extends object>(
  caller: Caller,
  { key, operation, asked }: Repeatable,
  work: (em: EntityManager) => Promise<Stored<Body>>,
): Promise<Stored<Body>> {
  if (key === undefined) return caller.transaction(work);
  const fingerprint = createHash('sha256').update(canonical(asked)).digest('hex');
  try {
    return await caller.transaction(async (em) => {
      await requireNotRunning(em, `${caller.organization.id} ${operation} ${key}`);
      const found = await em.findOne(IdempotencyKey, { operation, key });
      if (found && !found.expired) return replay<Body>(found, fingerprint);
      const answer = await work(em);
      const kept = {
        fingerprint,
        status: answer.status,
        location: answer.location ?? null,
        body: JSON.stringify(answer.body),
      };
      if (found) await em.remove(found).flush();
      em.create(IdempotencyKey, { operation, key, ...kept });
      return answer;
    });
  } catch (error) {
    // The first of two that came within the same instant has stored its answer: this one was rolled back whole.
    if (
      error instanceof UniqueConstraintViolationException &&
      Reflect.get(error, 'constraint') === 'idempotency_keys_key'
    )
      throw running();
    throw error;
  }
}

const running = () =>
  new Problem(
    'idempotency_in_progress',
    'A request with this Idempotency-Key is still running; repeat it in a second.',
    {
      headers: { 'Retry-After': '1' },
    },
  );

async function requireNotRunning(em: EntityManager, name: string): Promise<void> {
  const lock = createHash('sha256').update(name).digest().readBigInt64BE().toString();
  const [row] = await em.execute<{ free: boolean }[]>('select pg_try_advisory_xact_lock(?::bigint) as free', [lock]);
  if (!row?.free) throw running();
}

function replay<Body>(stored: IdempotencyKey, fingerprint: string): Stored<Body> {
  if (stored.fingerprint !== fingerprint) {
    throw new Problem(
      'idempotency_key_reused',
      'This Idempotency-Key was used for another request; take a new key for each new request.',
    );
  }
  return {
    // Only these two are stored, and the body is what the same operation answered.
    status: stored.status === 201 ? 201 : 200,
    body: JSON.parse(stored.body) as Body,
    ...(stored.location === null ? {} : { location: stored.location }),
    replayed: true,
  };
}

/** JSON with the keys of every object in order: how a caller wrote a body does not matter, what it says does. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    const plain = typeof part === 'object' && part !== null && !Array.isArray(part);
    return plain
      ? Object.fromEntries(Object.entries(part).toSorted(([left], [right]) => (left < right ? -1 : 1)))
      : part;
  });
}
