/**
 * Every write of the API: prepared statements, compiled once from the entity's metadata, with the values that the
 * entity's own hooks compute. Not persist and flush: the unit of work builds its statements anew for each request, sends
 * values as text and needs a transaction around them, which cost 5 (create) to 9 times (update) the CPU of a bare server
 * with the same statement, this costs 2.1 to 2.9 times (npm run bench). What the database decides stays there:
 * uniqueness by its indexes, lost updates by the version of the row.
 */
import { JsonType } from '@mikro-orm/core';
import type { EntityMetadata, EntityName, EntityProperty } from '@mikro-orm/core';
import type { Scope, Tenant } from '../database/tenant.ts';
import { readOne } from './reader.ts';
import type { Selection } from './selection.ts';
import { columnOf } from './sql.ts';
import type { Condition } from './sql.ts';

/** The database sets both to the start of the writing transaction. */
export type Times = { createdAt: string; updatedAt: string };
/** A record before it is stored. */
export type New<T> = Omit<T, keyof Times>;

const isTime = ({ name }: EntityProperty) => name === 'createdAt' || name === 'updatedAt';
const isStored = ({ persist }: EntityProperty) => persist !== false;

/** The given values, and those that the entity's hooks compute for a new record. */
export function completed<T extends object>(scope: Scope, entity: EntityName<T>, values: object): New<T> {
  const em = scope.em();
  const record = { ...values, organizationId: scope.organizationId };
  for (const { name, onCreate } of em.getMetadata(entity).props) {
    if (onCreate && Reflect.get(record, name) === undefined) Reflect.set(record, name, onCreate(record as T, em));
  }
  // The hooks have added what `values` lacks.
  return record as object as New<T>;
}

type Insert = {
  /** `insert into customers (…)`, without its values. */
  into: string;
  /** One for each column, `$1` for the organization. */
  parameters: string;
  /** What the parameters from `$2` on are. */
  values(record: object): unknown[];
  count: number;
};
const inserts = new WeakMap<object, Insert>();

export function insertOf<T extends object>(scope: Scope, entity: EntityName<T>): Insert {
  const known = inserts.get(entity);
  if (known) return known;
  const meta: EntityMetadata = scope.em().getMetadata(entity);
  const properties = meta.props.filter((one) => isStored(one) && !isTime(one) && one.name !== 'organizationId');
  const compiled: Insert = {
    into: `insert into ${meta.tableName} (organization_id, ${properties.map(({ fieldNames }) => fieldNames[0]).join(', ')})`,
    parameters: ['$1::uuid', ...properties.map(({ columnTypes }, index) => `$${index + 2}::${columnTypes[0]}`)].join(
      ', ',
    ),
    values: valuesOf(properties),
    count: properties.length,
  };
  inserts.set(entity, compiled);
  return compiled;
}

const valuesOf = (properties: readonly EntityProperty[]) => (record: object) =>
  properties.map(({ name, customType }) => {
    const value: unknown = Reflect.get(record, name) ?? null;
    return value !== null && customType instanceof JsonType ? JSON.stringify(value) : value;
  });

export const returningTimes = 'returning created_at as "createdAt", updated_at as "updatedAt"';

/** Stores a new record. The violation of a unique index is a database error: see takenField(). */
export async function insert<T extends object>(scope: Scope, entity: EntityName<T>, record: New<T>): Promise<Times> {
  const { into, parameters, values } = insertOf(scope, entity);
  const [times] = await scope.query<Times>(`${into} values (${parameters}) ${returningTimes}`, values(record));
  if (!times) throw new Error('An insert returned nothing.');
  return times;
}

type Update = { text: string; values(record: object): unknown[] };
const updates = new WeakMap<object, Update>();

/** Every column but the keys: one text for every change, and what is the same costs no index. */
function updateOf<T extends object>(scope: Scope, entity: EntityName<T>): Update {
  const known = updates.get(entity);
  if (known) return known;
  const meta: EntityMetadata = scope.em().getMetadata(entity);
  const properties = meta.props.filter((one) => isStored(one) && !isTime(one) && !one.primary);
  const sets = properties.map(
    ({ fieldNames, columnTypes }, index) => `${fieldNames[0]} = $${index + 4}::${columnTypes[0]}`,
  );
  const updatedAt = columnOf(meta, 'updatedAt');
  const compiled: Update = {
    // Never earlier than what is stored: a transaction that waited for the row began before the one it waited for.
    text: `update ${meta.tableName} t set ${sets.join(', ')}, ${updatedAt} = greatest(now(), t.${updatedAt})
      where t.organization_id = $1 and t.id = $2 and t.xmin = $3::xid returning t.${updatedAt} as "updatedAt"`,
    values: valuesOf(properties),
  };
  updates.set(entity, compiled);
  return compiled;
}

export type Versioned = { version: string };
type Identified = { id: string; updatedAt: string };
export type Table<T extends object, Row extends object> = {
  entity: EntityName<T>;
  /** Reads whole records, with their version. */
  selection: Selection<T, Row & Versioned>;
  /** What else has to change in the same statement when this property does; `changed` is the row that was written. */
  alongside?: { property: keyof Row & string; statement: string };
};

/** Values that differ from the stored record's; undefined if none does. */
type Change<Row> = (stored: Row) => Partial<Row> | undefined;

/** Most changes have no competitor: the row is locked only after this many lost races. */
const attempts = 2;

/**
 * Changes the record that meets the condition, and returns it as it is afterwards; undefined if there is none. Two at
 * once each start from what the other has stored, so that neither is lost.
 */
export async function update<T extends object, Row extends Identified>(
  tenant: Pick<Tenant, 'transact'> & Scope,
  table: Table<T, Row>,
  condition: Condition<T>,
  change: Change<Row>,
): Promise<Row | undefined> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const result = await updateOnce(tenant, table, condition, change);
    if (result !== 'outdated') return result;
  }
  return tenant.transact((scope) => updateLocked(scope, table, condition, change));
}

/** The same inside a transaction: the row is locked first. */
export async function updateLocked<T extends object, Row extends Identified>(
  scope: Scope,
  table: Table<T, Row>,
  condition: Condition<T>,
  change: Change<Row>,
): Promise<Row | undefined> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const result = await updateOnce(scope, table, condition, change, { lock: true });
    if (result !== 'outdated') return result;
    // Nobody else changes a locked row, but its shard may move to another node, where its version is another.
  }
  throw new Error('A locked row was changed by another transaction.');
}

async function updateOnce<T extends object, Row extends Identified>(
  scope: Scope,
  { entity, selection, alongside }: Table<T, Row>,
  condition: Condition<T>,
  change: Change<Row>,
  options: { lock?: boolean } = {},
): Promise<Row | undefined | 'outdated'> {
  const stored = await readOne(scope, selection, condition, options);
  const changes = stored && change(stored);
  if (!stored || !changes) return stored;
  const { version, ...record } = { ...stored, ...changes };
  const { text: plain, values } = updateOf(scope, entity);
  const rehooked = rehook(scope, entity, record);
  const moves = alongside && Reflect.get(rehooked, alongside.property) !== stored[alongside.property];
  const text = moves
    ? `with changed as (${plain}, t.*), alongside as (${alongside.statement}) select "updatedAt" from changed`
    : plain;
  const [written] = await scope.query<{ updatedAt: string }>(text, [record.id, version, ...values(rehooked)]);
  return written ? { ...stored, ...changes, updatedAt: written.updatedAt } : 'outdated';
}

/** What the entity's hooks compute anew for a changed record: the columns that searches and orders compare. */
function rehook<T extends object>(scope: Scope, entity: EntityName<T>, record: object): object {
  const em = scope.em();
  const rehooked = { ...record };
  // In the entity's order, because one may be derived from another.
  for (const prop of em.getMetadata(entity).props) {
    if (prop.onUpdate && !isTime(prop)) Reflect.set(rehooked, prop.name, prop.onUpdate(rehooked as T, em));
  }
  return rehooked;
}
