/**
 * Idempotency keys: the response to a create is stored in the create's own statement, so that either both exist or
 * neither. A lock that is held during the statement shows whether the same request is still running.
 */
import { hash } from 'node:crypto';
import type { idempotencyHours } from '../../contract/limits.ts';
import { statements } from '../database/scope.ts';
import type { Scope } from '../database/scope.ts';
import type { Tenant } from '../database/tenant.ts';
import { IdempotencyKey, idempotencyLifetime } from '../entities/idempotency-key.ts';
import { insertIn, returningNew, tableIn, translateRefusal, withDerivedValues } from './writer.ts';
import type { RecordTable } from './record-table.ts';
import type { Identified, New, Table, Version } from './writer.ts';

/** What identifies a repeated request, and the response that it gets. */
export type Claim = Pick<IdempotencyKey, 'operation' | 'key' | 'fingerprint'>;
export type StoredResponse = Pick<IdempotencyKey, 'fingerprint' | 'status' | 'location' | 'body' | 'createdAt'>;
/** The version of a new record, a stored response, or that the same request is still running. */
export type ClaimResult = { version: Version } | { stored: StoredResponse } | 'running';

/** The stored response, if there is one, and the version of the new record, if there is one. */
type Read = (StoredResponse | Record<keyof StoredResponse, null>) & {
  newCreatedAt: string | null;
  newUpdatedAt: string | null;
  revision: number;
};

const promised = idempotencyLifetime satisfies `${typeof idempotencyHours} hours`;
const lifetime = `interval '${promised}'`;

/** One number for the lock of this organization, operation and key. */
function lockOf({ organizationId }: Scope, { operation, key }: Claim): string {
  return hash('sha256', `${organizationId} ${operation} ${key}`, 'buffer').readBigInt64BE().toString();
}

/** A key expires after a day: an older entry is replaced. No now() here: distributed tables do not allow it. */
const replacing = `on conflict (organization_id, operation, key) do update set (id, fingerprint, status, location, body, created_at) =
  (excluded.id, excluded.fingerprint, excluded.status, excluded.location, excluded.body, excluded.created_at)
  where excluded.created_at - idempotency_keys.created_at >= ${lifetime}`;

/** `$2` is the operation, `$3` the key. */
const isClaimed = `organization_id = $1 and operation = $2 and key = $3 and created_at > now() - ${lifetime}`;
const selectStored = `select fingerprint, status, location, body, created_at as "createdAt" from idempotency_keys where ${isClaimed}`;
/** `$4` is the lock. */
const claiming = `lock as materialized (select pg_try_advisory_xact_lock($4::bigint) as free), stored as (${selectStored})`;

/** Renumbers a statement's parameters, which were written from `$2` on, to start at `$first`. */
const shifted = (text: string, first: number) =>
  text.replaceAll(/\$(\d+)/g, (parameter, number: string) =>
    number === '1' ? parameter : `$${Number(number) + first - 2}`,
  );

const texts = new WeakMap<object, string>();

type Response = Claim & Pick<StoredResponse, 'status' | 'location' | 'body'>;

/**
 * Stores a new record under an idempotency key, in one statement if the database allows it. The stored body has no version
 * yet: the database sets the record's times, which are the same as the key's. Problem: external_id_erased.
 */
export function insertOnce<T extends object, Row extends Identified>(
  tenant: Pick<Tenant, 'transact'> & Scope,
  table: Table<T, Row>,
  record: New<T>,
  response: Response,
): Promise<ClaimResult> {
  return tenant.isDistributed
    ? tenant.transact((scope) => insertInSteps(scope, table, record, response))
    : insertAtOnce(tenant, table, record, response);
}

/** Citus splits a statement with two inserts, which takes longer than a transaction of separate statements. */
async function insertInSteps<T extends object, Row extends Identified>(
  scope: Scope,
  table: Table<T, Row>,
  record: New<T>,
  response: Response,
): Promise<ClaimResult> {
  const text = 'select pg_try_advisory_xact_lock($2::bigint) as free where $1::uuid is not null';
  const [lock] = await scope[statements].query<{ free: boolean }>(text, [lockOf(scope, response)]);
  const stored = await storedResponse(scope, response);
  if (stored) return { stored };
  if (!lock?.free) return 'running';
  const version = await insertIn(scope, table, record);
  await storeResponse(scope, response);
  return { version };
}

async function insertAtOnce<T extends object, Row extends Identified>(
  scope: Scope,
  table: Table<T, Row>,
  record: New<T>,
  response: Response,
): Promise<ClaimResult> {
  const target = tableIn(scope, table.entity).insert;
  const keys = tableIn(scope, IdempotencyKey).insert;
  const text = texts.get(table.entity) ?? onceText(target, keys, returningNew(scope, table));
  texts.set(table.entity, text);
  const kept = withDerivedValues(scope, IdempotencyKey, response);
  const values = [response.operation, response.key, lockOf(scope, response), ...keys.values(kept)];
  const [row] = await translateRefusal(scope, table, record, () =>
    scope[statements].query<Read>(text, [...values, ...target.values(record)]),
  );
  return outcomeOf(row);
}

type Insert = RecordTable['insert'];

function onceText(target: Insert, keys: Insert, returning: string): string {
  const first = 5 + keys.columns.length;
  return `with ${claiming},
    claimed as (${keys.into} select ${shifted(keys.parameters, 5)} from lock
      where free and not exists (select from stored) ${replacing} returning id),
    created as (${target.into} select ${shifted(target.parameters, first)} from claimed ${returning})
    select stored.*, created."createdAt" as "newCreatedAt", created."updatedAt" as "newUpdatedAt", created.revision
    from lock left join stored on true left join created on true`;
}

function outcomeOf(row: Read | undefined): ClaimResult {
  if (row && row.fingerprint !== null) return { stored: row };
  // The lock was free, but nothing is stored or created: the first of two requests committed after this statement began.
  if (!row?.newCreatedAt || !row.newUpdatedAt) return 'running';
  return { version: { createdAt: row.newCreatedAt, updatedAt: row.newUpdatedAt, revision: row.revision } };
}

/** Inside a transaction: waits for the key's lock, then looks for a stored response. */
export async function claimKey(scope: Scope, claim: Claim): Promise<StoredResponse | undefined> {
  // Waits, because our statement that the unique index rejected may not have released the lock yet.
  await scope[statements].query('select pg_advisory_xact_lock($2::bigint) where $1::uuid is not null', [
    lockOf(scope, claim),
  ]);
  // A separate statement, which sees what was stored during the wait.
  return storedResponse(scope, claim);
}

async function storedResponse(scope: Scope, claim: Claim): Promise<StoredResponse | undefined> {
  const [stored] = await scope[statements].query<StoredResponse>(selectStored, [claim.operation, claim.key]);
  return stored;
}

/** Inside the same transaction: stores the complete response. */
export async function storeResponse(scope: Scope, response: Response): Promise<void> {
  const { into, parameters, values } = tableIn(scope, IdempotencyKey).insert;
  const kept = withDerivedValues(scope, IdempotencyKey, response);
  await scope[statements].query(`${into} values (${parameters}) ${replacing}`, values(kept));
}
