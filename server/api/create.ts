/** Creates records: inserts, or resolves by externalId if the unique index rejects the insert; once per Idempotency-Key. */
import type { Kind } from '../../contract/fields.ts';
import type { ProblemError } from '../../contract/problem.ts';
import { violatedIndex } from '../records/constraint.ts';
import type { Caller } from '../keys/caller.ts';
import { Problem } from '../problems/problem.ts';
import { claimKey, insertOnce, storeResponse } from '../records/idempotency.ts';
import type { Claim } from '../records/idempotency.ts';
import { publicId } from '../records/public-id.ts';
import { readOne } from '../records/reader.ts';
import { exactly } from '../records/sql.ts';
import { insert, requireAccepted, update, updateLocked, withDerivedValues } from '../records/writer.ts';
import type { Change, Identified, Table, Version } from '../records/writer.ts';
import { requireMatch } from './conditional.ts';
import { claimOf, replayResponse, unsetVersion } from './idempotency.ts';
import { created, record } from './reply.ts';
import type { Reply } from './reply.ts';

type Unique = { externalId?: string | null | undefined; sku?: string | null | undefined };
type Stored = Identified & { externalId: string | null };
type Shown = { id: string; etag: string };

export type Creation<T extends Stored, Row extends Stored, Body> = {
  kind: Kind;
  /** `/v1/customers` */
  path: string;
  table: Table<T, Row>;
  body: Unique;
  onConflict: 'error' | 'return' | 'update' | undefined;
  idempotencyKey: string | undefined;
  /** The condition of `onConflict=update`. */
  ifMatch?: string | undefined;
  /** Why the body cannot become a new record, although it may update an existing one. */
  missing?: ProblemError | undefined;
  /** The values of a new record. */
  values: () => object;
  /** Merges the body into the record that already has the externalId: `onConflict=update`. */
  merge?: Change<Row>;
  present: (row: Row) => Body;
};

type Replies<Body> = Reply<201, Body> | Reply<200, Body>;

/** How often to retry if the existing record loses its externalId between two statements. */
const attempts = 3;

export async function create<T extends Stored, Row extends Stored, Body extends Shown>(
  caller: Caller,
  creation: Creation<T, Row, Body>,
): Promise<Replies<Body>> {
  const { body, onConflict = 'error', idempotencyKey, missing, path } = creation;
  const ifMatch = onConflict === 'update' ? creation.ifMatch : undefined;
  const claim =
    idempotencyKey === undefined ? undefined : claimOf(`POST ${path}`, idempotencyKey, { body, onConflict, ifMatch });
  // Without a name, or with the ETag of a record, the body can only update an existing record.
  const isNew = missing === undefined && ifMatch === undefined;
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const inserted = isNew ? await insertNew(caller, creation, claim) : 'externalId';
    if (typeof inserted === 'object') return inserted;
    if (onConflict === 'error') throw await conflict(caller, creation, inserted);
    // Also after a taken sku: if two indexes reject a record, the database names only the one it checked first.
    const existing = await useExisting(caller, creation, claim);
    if (existing) return existing;
    if (inserted === 'sku') throw await conflict(caller, creation, inserted);
    // The record no longer has the externalId, so the unique index decides again.
    if (!isNew) throw await missingProblem(caller, creation);
  }
  throw await conflict(caller, creation, 'externalId');
}

type UniqueField = 'externalId' | 'sku';

/** The reply, or the unique field whose index rejected the record. */
async function insertNew<T extends Stored, Row extends Stored, Body extends Shown>(
  caller: Caller,
  { table, values, present, path }: Creation<T, Row, Body>,
  claim: Claim | undefined,
): Promise<Replies<Body> | UniqueField> {
  const fresh = withDerivedValues(caller, table.entity, values());
  // The version completes a new record.
  const shown = (version: Version) => created(present({ ...fresh, ...version } as object as Row), path);
  try {
    if (!claim) return shown(await insert(caller, table, fresh));
    const { text, location = null } = shown(unsetVersion);
    const outcome = await insertOnce(caller, table, fresh, { ...claim, status: 201, location, body: text });
    if (outcome === 'running') throw new Problem('idempotency_in_progress');
    return 'stored' in outcome ? replayResponse(outcome.stored, claim) : shown(outcome.version);
  } catch (error) {
    const field = takenField(error);
    if (!field) throw error;
    return field;
  }
}

/** The record with the externalId, unchanged or with the body merged into it; undefined if there is no longer one. */
async function useExisting<T extends Stored, Row extends Stored, Body extends Shown>(
  caller: Caller,
  { table, body: { externalId }, onConflict, ifMatch, merge, present }: Creation<T, Row, Body>,
  claim: Claim | undefined,
): Promise<Replies<Body> | undefined> {
  const condition = exactly<T>('externalId', externalId);
  const change = onConflict === 'update' && merge && conditional(merge);
  if (!claim) {
    const row = await (change ? update(caller, table, condition, change) : readOne(caller, table.selection, condition));
    return row && record(present(row));
  }
  return caller.transact(async (scope) => {
    const stored = await claimKey(scope, claim);
    if (stored) return replayResponse<Body>(stored, claim);
    const row = await (change
      ? updateLocked(scope, table, condition, change)
      : readOne(scope, table.selection, condition));
    if (!row) return undefined;
    const reply = record(present(row));
    await storeResponse(scope, { ...claim, status: 200, location: null, body: reply.text });
    return reply;
  });

  function conditional(merging: Change<Row>): Change<Row> {
    return (row) => {
      requireMatch(ifMatch, () => present(row).etag);
      return merging(row);
    };
  }
}

/** Why a body can neither become a new record nor update one. */
async function missingProblem<T extends Stored, Row extends Stored, Body>(
  caller: Caller,
  { table, body, ifMatch, missing }: Creation<T, Row, Body>,
): Promise<Problem> {
  await requireAccepted(caller, table, body);
  if (ifMatch !== undefined) return new Problem('precondition_failed', {});
  return new Problem('validation_failed', { errors: missing ? [missing] : [] });
}

/** Which of the two unique fields an index rejected; undefined for any other error. */
function takenField(error: unknown): UniqueField | undefined {
  const index = violatedIndex(error);
  if (index?.endsWith('_external_id')) return 'externalId';
  return index?.endsWith('_sku') ? 'sku' : undefined;
}

type Conflicting<T extends Stored, Row extends Stored> = Pick<Creation<T, Row, unknown>, 'kind' | 'table' | 'body'> & {
  isUpdate?: boolean;
};

/** Performs an update; if a unique index rejects it, throws a 409 with the id of the record that has the value. */
export async function translateConflict<T extends Stored, Row extends Stored, Result>(
  caller: Caller,
  conflicting: Conflicting<T, Row>,
  write: () => Promise<Result>,
): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    const field = takenField(error);
    throw field ? await conflict(caller, { ...conflicting, isUpdate: true }, field) : error;
  }
}

async function conflict<T extends Stored, Row extends Stored>(
  caller: Caller,
  { kind, table, body, isUpdate = false }: Conflicting<T, Row>,
  field: UniqueField,
): Promise<Problem> {
  // Only entities with a sku have an index on it.
  const condition =
    field === 'sku'
      ? exactly<T>('skuKey' as keyof T & string, body.sku?.toLowerCase())
      : exactly<T>('externalId', body.externalId);
  const row = await readOne(caller, table.selection, condition);
  const existingId = row && publicId(kind, row.id);
  return field === 'sku'
    ? new Problem('sku_taken', { existingId })
    : new Problem('external_id_taken', { record: kind, existingId, isUpdate });
}
