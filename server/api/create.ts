/** Creates: insert, or resolve by externalId if the unique index rejects the record; once per Idempotency-Key. */
import type { EntityName } from '@mikro-orm/core';
import type { Kind } from '../../contract/fields.ts';
import type { ProblemError } from '../../contract/problem.ts';
import { violatedIndex } from '../records/constraint.ts';
import type { Caller } from '../keys/caller.ts';
import { Problem } from '../problems/problem.ts';
import { claimKey, insertOnce, storeResponse } from '../records/idempotency.ts';
import type { Claim } from '../records/idempotency.ts';
import { publicId } from '../records/public-id.ts';
import { readOne } from '../records/reader.ts';
import type { Selection } from '../records/selection.ts';
import { exactly } from '../records/sql.ts';
import { completed, insert, update, updateLocked } from '../records/writer.ts';
import type { Table, Times } from '../records/writer.ts';
import { claimOf, replayed, stillRunning, withoutTimes } from './idempotency.ts';
import { created, record } from './reply.ts';
import type { Reply } from './reply.ts';

type Unique = { externalId?: string | null | undefined; sku?: string | null | undefined };
type Stored = { id: string; externalId: string | null } & Times;

export type Creation<T extends Stored, Row extends Stored, Body> = {
  kind: Kind;
  /** `/v1/customers` */
  path: string;
  entity: EntityName<T>;
  selection: Selection<T, Row>;
  body: Unique;
  onConflict: 'error' | 'return' | 'update' | undefined;
  idempotencyKey: string | undefined;
  /** Why the body cannot become a new record, although it may update an existing one. */
  missing?: ProblemError | undefined;
  /** The values of a new record. */
  values: () => object;
  /** Merges the body into the record that already has the externalId: `onConflict=update`. */
  merge?: { table: Table<T, Row>; change: (row: Row) => Partial<Row> | undefined };
  present: (row: Row) => Body;
};

type Replies<Body> = Reply<201, Body> | Reply<200, Body>;

/** How often to look for a record whose externalId was removed between two statements. */
const attempts = 3;

/** The unique index decides: insert first, and look for the other record only if the index rejects the insert. */
export async function create<T extends Stored, Row extends Stored, Body extends { id: string }>(
  caller: Caller,
  creation: Creation<T, Row, Body>,
): Promise<Replies<Body>> {
  const { body, onConflict = 'error', idempotencyKey, path } = creation;
  requireExternalId(onConflict, body);
  const claim =
    idempotencyKey === undefined ? undefined : claimOf(`POST ${path}`, idempotencyKey, { body, onConflict });
  if (creation.missing) {
    const existing = onConflict === 'error' ? undefined : await useExisting(caller, creation, claim);
    if (existing) return existing;
    throw new Problem('validation_failed', { errors: [creation.missing] });
  }
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await insertNew(caller, creation, claim);
    } catch (error) {
      const field = takenField(error);
      if (!field) throw error;
      if (onConflict === 'error' || field === 'sku') throw await conflict(caller, creation, field);
      const existing = await useExisting(caller, creation, claim);
      if (existing) return existing;
      // The other record no longer has the externalId: it is free again.
      if (attempt === attempts) throw error;
    }
  }
}

async function insertNew<T extends Stored, Row extends Stored, Body extends { id: string }>(
  caller: Caller,
  { entity, values, present, path }: Creation<T, Row, Body>,
  claim: Claim | undefined,
): Promise<Replies<Body>> {
  const fresh = completed(caller, entity, values());
  // With its times, a new record is complete.
  const shown = (times: Times) => created(present({ ...fresh, ...times } as object as Row), path);
  if (!claim) return shown(await insert(caller, entity, fresh));
  const draft = shown({ createdAt: '', updatedAt: '' });
  const response = { status: 201, location: draft.location ?? null, body: withoutTimes(draft.text) };
  const outcome = await insertOnce(caller, entity, fresh, claim, response);
  if (outcome === 'running') throw stillRunning();
  return 'stored' in outcome ? replayed(outcome.stored, claim) : shown(outcome.times);
}

/** The record with the externalId, unchanged or with the body merged into it; undefined if there is none any more. */
async function useExisting<T extends Stored, Row extends Stored, Body extends { id: string }>(
  caller: Caller,
  { selection, body: { externalId }, onConflict, merge, present }: Creation<T, Row, Body>,
  claim: Claim | undefined,
): Promise<Replies<Body> | undefined> {
  const condition = exactly<T>('externalId', externalId);
  const merging = onConflict === 'update' ? merge : undefined;
  if (!claim) {
    const row = await (merging
      ? update(caller, merging.table, condition, merging.change)
      : readOne(caller, selection, condition));
    return row && record(present(row));
  }
  return caller.transact(async (scope) => {
    const stored = await claimKey(scope, claim);
    if (stored) return replayed<Body>(stored, claim);
    const row = await (merging
      ? updateLocked(scope, merging.table, condition, merging.change)
      : readOne(scope, selection, condition));
    if (!row) return undefined;
    const reply = record(present(row));
    await storeResponse(scope, claim, { status: 200, location: null, body: reply.text });
    return reply;
  });
}

function requireExternalId(onConflict: string, { externalId }: Unique): void {
  if (onConflict === 'error' || typeof externalId === 'string') return;
  const message = `${onConflict} needs an externalId in the body`;
  throw new Problem('invalid_parameter', {
    errors: [{ in: 'query', field: 'onConflict', pointer: null, code: 'invalid_parameter', message }],
  });
}

type UniqueField = 'externalId' | 'sku';

/** Which of the two unique fields an index rejected; undefined for any other error. */
function takenField(error: unknown): UniqueField | undefined {
  const index = violatedIndex(error);
  if (index?.endsWith('_external_id')) return 'externalId';
  return index?.endsWith('_sku') ? 'sku' : undefined;
}

type Conflicting<T extends Stored> = Pick<Creation<T, Stored, unknown>, 'kind' | 'body'> & {
  selection: Selection<T, { id: string }>;
};

/** Performs a write; if a unique index rejects it, throws a 409 with the id of the record that has the value. */
export async function orConflict<T extends Stored, Result>(
  caller: Caller,
  conflicting: Conflicting<T>,
  write: () => Promise<Result>,
): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    const field = takenField(error);
    throw field ? await conflict(caller, conflicting, field) : error;
  }
}

async function conflict<T extends Stored>(
  caller: Caller,
  { kind, selection, body }: Conflicting<T>,
  field: UniqueField,
): Promise<Problem> {
  // Only entities with a sku have an index on it.
  const condition =
    field === 'sku'
      ? exactly<T>('skuKey' as keyof T & string, body.sku?.toLowerCase())
      : exactly<T>('externalId', body.externalId);
  const row = await readOne(caller, selection, condition);
  const existingId = row && publicId(kind, row.id);
  return field === 'sku'
    ? new Problem('sku_taken', { existingId })
    : new Problem('external_id_taken', { record: kind, existingId });
}
