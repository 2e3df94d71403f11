/** A create that may be repeated: under an Idempotency-Key, and by externalId. */
import { LockMode, UniqueConstraintViolationException } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Caller } from '../keys/caller.ts';
import type { Kind } from '../../contract/fields.ts';
import { publicId } from '../records/public-id.ts';
import { Problem } from '../problems/problem.ts';
import { once } from './idempotency.ts';
import type { Stored } from './idempotency.ts';
import { equal, readPage } from '../records/read.ts';
import type { Condition, Source } from '../records/read.ts';

type Unique = { externalId?: string | null | undefined; sku?: string | null | undefined };

export type Creation<Row, Body> = {
  kind: Kind;
  operation: string;
  source: Source;
  /** Stores a new record. */
  insert: (em: EntityManager) => Promise<Row>;
  /** The record with this externalId, locked where it will be changed. */
  find: (em: EntityManager, externalId: string, lockMode: LockMode) => Promise<Row | null>;
  /** Merges the body into the record that was there: `onConflict=update`. */
  merge?: (row: Row) => void;
  present: (row: Row) => Body;
};

type Asked = {
  body: Unique;
  query: { onConflict?: string | undefined };
  headers: { 'idempotency-key'?: string | undefined };
};

const attempts = 3;

/** Decided by the unique index alone: insert first, and look for the other record only where the index refused. */
export async function create<Row, Body extends { id: string }>(
  caller: Caller,
  { body, query, headers }: Asked,
  creation: Creation<Row, Body>,
): Promise<Stored<Body>> {
  const { onConflict = 'error' } = query;
  requireExternalId(onConflict, body);
  const repeatable = { key: headers['idempotency-key'], operation: creation.operation, asked: { body, onConflict } };
  const insert = async (em: EntityManager): Promise<Stored<Body>> => {
    const presented = creation.present(await creation.insert(em));
    return { status: 201, body: presented, location: `${creation.operation.replace('POST ', '')}/${presented.id}` };
  };
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await once(caller, repeatable, insert);
    } catch (error) {
      const field = takenField(error);
      if (!field) throw error;
      if (onConflict === 'error' || field === 'sku') throw await taken(caller, creation, field, body);
      const existing = await once(caller, repeatable, (em) => useExisting(em, body, onConflict, creation)).catch(
        nobody,
      );
      if (existing) return existing;
      // The other record gave its externalId away in between: it is free again.
      if (attempt === attempts) throw error;
    }
  }
}

class Gone extends Error {}

function nobody(error: unknown): undefined {
  if (error instanceof Gone) return undefined;
  throw error;
}

async function useExisting<Row, Body>(
  em: EntityManager,
  { externalId }: Unique,
  onConflict: string,
  creation: Creation<Row, Body>,
): Promise<Stored<Body>> {
  const lockMode = onConflict === 'update' ? LockMode.PESSIMISTIC_WRITE : LockMode.NONE;
  const row = await creation.find(em, externalId ?? '', lockMode);
  if (!row) throw new Gone();
  if (onConflict === 'update') {
    creation.merge?.(row);
    await em.flush();
  }
  return { status: 200, body: creation.present(row) };
}

function requireExternalId(onConflict: string, { externalId }: Unique): void {
  if (onConflict === 'error' || typeof externalId === 'string') return;
  const message = 'needs an externalId in the body';
  throw new Problem('invalid_parameter', `onConflict=${onConflict} ${message}.`, {
    errors: [{ in: 'query', field: 'onConflict', pointer: null, code: 'invalid_parameter', message }],
  });
}

type UniqueField = 'externalId' | 'sku';

/** Which of the two unique fields an index refused; undefined for any other error. */
function takenField(error: unknown): UniqueField | undefined {
  if (!(error instanceof UniqueConstraintViolationException)) return undefined;
  const constraint = String(Reflect.get(error, 'constraint'));
  if (constraint.endsWith('_external_id')) return 'externalId';
  return constraint.endsWith('_sku') ? 'sku' : undefined;
}

/** Does a write; where a unique index refuses it, answers 409 with the id of the record that was there first. */
export async function orTaken<T>(
  caller: Caller,
  { kind, source }: { kind: Kind; source: Source },
  body: Unique,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const field = takenField(error);
    throw field ? await taken(caller, { kind, source }, field, body) : error;
  }
}

async function taken(
  caller: Caller,
  { kind, source }: { kind: Kind; source: Source },
  field: UniqueField,
  body: Unique,
): Promise<Problem> {
  const condition: Condition =
    field === 'sku' ? equal('t.sku_key', body.sku?.toLowerCase()) : equal('t.external_id', body.externalId);
  const [row] = await readPage<{ id: string }>(caller, source, {
    conditions: [condition],
    order: { column: 'id', descending: false },
    limit: 1,
  });
  const code = field === 'sku' ? 'sku_taken' : 'external_id_taken';
  return new Problem(code, `Another ${kind} already has this ${field}.`, {
    ...(row && { existingId: publicId(kind, row.id) }),
    errors: [{ in: 'body', field, pointer: `/${field}`, code, message: 'is taken by another record' }],
  });
}
