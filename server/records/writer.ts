/**
 * Every write of the API: prepared statements, compiled once from the entity's metadata, with the values that the
 * entity's own hooks compute. Not persist and flush: the unit of work rebuilds its statements for each request, sends
 * values as text and needs a transaction around them, which cost 5 (create) to 9 times (update) the CPU of a bare server
 * with the same statement; this costs about twice as much (npm run bench). The database itself enforces uniqueness, by its
 * indexes, and prevents lost updates, by the version of the row.
 */
import type { EntityName } from '@mikro-orm/core';
import { statements } from '../database/scope.ts';
import type { Scope } from '../database/scope.ts';
import type { Tenant } from '../database/tenant.ts';
import { Problem } from '../problems/problem.ts';
import { violatedIndex } from './constraint.ts';
import { readOne } from './reader.ts';
import type { Selection } from './selection.ts';
import { recordTable } from './record-table.ts';
import type { RecordTable, Values } from './record-table.ts';
import type { Condition } from './sql.ts';

/** Set by the database: both times are the start of the writing transaction. */
export type Version = { createdAt: string; updatedAt: string; revision: number };
/** A record before it is stored. */
export type New<T> = Omit<T, keyof Version>;

/** The table that an entity's rows are in. */
export const tableIn = <T extends object>(scope: Scope, entity: EntityName<T>): RecordTable<T> =>
  recordTable(entity, () => scope[statements].manager());

/** The given values, and those that the entity's hooks compute for a new record. */
export function withDerivedValues<T extends object>(scope: Scope, entity: EntityName<T>, values: object): New<T> {
  const { organizationId } = scope;
  // The hooks have added what `values` lacks.
  return tableIn(scope, entity).created({ ...values, organizationId }) as object as New<T>;
}

const returningVersion = 'returning created_at as "createdAt", updated_at as "updatedAt", revision';

export type Identified = { id: string } & Version;
export type Table<T extends object, Row extends object> = {
  entity: EntityName<T>;
  /** Reads whole records. */
  selection: Selection<T, Row>;
  /** Values that no record may use again, although no row has them: the externalIds of erased customers. */
  refusedValues?: {
    property: string;
    /** SQL on a new row: violates the constraint if its value is refused, judged by what has been committed. */
    check: string;
    constraint: string;
    /** The id of the record that had it. */
    find: (scope: Scope, text: string) => Promise<string | undefined>;
  };
  /** What the entity derives other values from: they are computed again only if one of these changes. */
  derivedFrom: readonly (keyof Row & string)[];
  /** What else has to change when this property does. */
  alongside?: {
    property: keyof Row & string;
    /** In the same statement; `changed` is the row that was written. */
    statement: string;
    /** SQL on the row `t`: whether the statement changes few rows. Otherwise, `change` does, in several statements. */
    isFew: string;
    change: (scope: Scope, record: Values) => Promise<void>;
  };
};
type Refusing = Pick<Table<object, Identified>, 'refusedValues'>;

/**
 * Stores a new record. The violation of a unique index is a database error: see violatedIndex(). Problem:
 * external_id_erased.
 */
export function insert<T extends object, Row extends Identified>(
  tenant: Pick<Tenant, 'transact'> & Scope,
  table: Table<T, Row>,
  record: New<T>,
): Promise<Version> {
  const isChecked = tenant.isDistributed && refusableValue(table, record) !== undefined;
  return isChecked ? tenant.transact((scope) => insertIn(scope, table, record)) : insertIn(tenant, table, record);
}

/** The same inside a transaction. */
export async function insertIn<T extends object, Row extends Identified>(
  scope: Scope,
  table: Table<T, Row>,
  record: New<T>,
): Promise<Version> {
  const { into, parameters, values } = tableIn(scope, table.entity).insert;
  const text = `${into} values (${parameters}) ${returningNew(scope, table)}`;
  const [version] = await translateRefusal(scope, table, record, () =>
    scope[statements].query<Version>(text, values(record)),
  );
  if (!version) throw new Error('An insert returned nothing.');
  // On a cluster, the refused values are on another node.
  if (scope.isDistributed) await requireAccepted(scope, table, record);
  return version;
}

/**
 * SQL: the version of a new record. Refused values are checked after the insert, because it may have waited, on the unique
 * index, for the very transaction that erases the customer with this externalId.
 */
export function returningNew(scope: Scope, { refusedValues }: Refusing): string {
  return refusedValues && !scope.isDistributed ? `${returningVersion}, ${refusedValues.check}` : returningVersion;
}

/** Performs an insert. Problem: external_id_erased. */
export async function translateRefusal<Result>(
  scope: Scope,
  { refusedValues }: Refusing,
  record: object,
  write: () => Promise<Result>,
): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    if (!refusedValues || violatedIndex(error) !== refusedValues.constraint) throw error;
    const existingId = await refusedValues.find(scope, String(Reflect.get(record, refusedValues.property)));
    throw new Problem('external_id_erased', { existingId });
  }
}

/** Problem: external_id_erased. */
export async function requireAccepted(scope: Scope, { refusedValues }: Refusing, values: object): Promise<void> {
  const value = refusableValue({ refusedValues }, values);
  const existingId = value === undefined ? undefined : await refusedValues?.find(scope, value);
  if (existingId !== undefined) throw new Problem('external_id_erased', { existingId });
}

/** The value that the table may refuse. */
function refusableValue({ refusedValues }: Refusing, values: object): string | undefined {
  const value: unknown = refusedValues && Reflect.get(values, refusedValues.property);
  return typeof value === 'string' ? value : undefined;
}

/** The new values of a stored record; if none of them differs, nothing is written. */
export type Change<Row> = (stored: Row) => Partial<Row>;

/**
 * Changes the record that meets the condition, and returns the result; undefined if there is none. Of two concurrent
 * updates, the second starts from what the first stored, so that neither is lost. Most have no competitor, so the row is
 * locked only if another update was faster, or if what is written has to be checked.
 */
export async function update<T extends object, Row extends Identified>(
  tenant: Pick<Tenant, 'transact'> & Scope,
  table: Table<T, Row>,
  condition: Condition<T>,
  change: Change<Row>,
): Promise<Row | undefined> {
  const result = await updateOnce(tenant, table, condition, { change });
  if (result !== 'outdated') return result;
  return tenant.transact((scope) => updateLocked(scope, table, condition, change));
}

/** The same inside a transaction: the row is locked first, so that no other transaction changes it. */
export async function updateLocked<T extends object, Row extends Identified>(
  scope: Scope,
  table: Table<T, Row>,
  condition: Condition<T>,
  change: Change<Row>,
): Promise<Row | undefined> {
  const result = await updateOnce(scope, table, condition, { change, lock: true });
  if (result === 'outdated') throw new Error('A locked row was changed by another transaction.');
  return result;
}

async function updateOnce<T extends object, Row extends Identified>(
  scope: Scope,
  { entity, selection, refusedValues, derivedFrom, alongside }: Table<T, Row>,
  condition: Condition<T>,
  { change, lock = false }: { change: Change<Row>; lock?: boolean },
): Promise<Row | undefined | 'outdated'> {
  const stored = await readOne(scope, selection, condition, { lock });
  if (!stored) return undefined;
  const changes = change(stored);
  const table = tableIn(scope, entity);
  const properties = table.differing(stored, changes);
  if (properties.length === 0) return stored;
  const given = refusableValue({ refusedValues }, changes);
  const isChecked = given !== undefined && given !== refusableValue({ refusedValues }, stored);
  // The check follows the update, which it may have to undo.
  if (isChecked && !lock) return 'outdated';
  const derives = derivedFrom.some((property) => properties.includes(property));
  const { text: plain, parameters, prepared } = table.update(properties, { derives });
  const moves = alongside && properties.includes(alongside.property);
  const version = 'updated_at as "updatedAt", revision';
  const text =
    moves && !lock
      ? `with changed as (${plain} and ${alongside.isFew} returning t.*), alongside as (${alongside.statement}) select ${version} from changed`
      : `${plain} returning ${version}`;
  const record = derives ? table.changed(stored, changes) : changes;
  const { query } = scope[statements];
  const [written] = await query<Pick<Version, 'updatedAt' | 'revision'>>(text, parameters(stored, record), {
    prepared,
  });
  if (written && moves && lock) await alongside.change(scope, record);
  if (isChecked) await requireAccepted(scope, { refusedValues }, changes);
  return written ? { ...stored, ...changes, ...written } : 'outdated';
}
