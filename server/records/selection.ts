/** What a read selects, compiled once into the beginning of every statement that reads it. */
import { raw } from '@mikro-orm/core';
import type { EntityMetadata, EntityName } from '@mikro-orm/core';
import { statements } from '../database/scope.ts';
import type { Scope } from '../database/scope.ts';
import type { ManyRow, NoRelations, OneRow, Related, Relations } from './relations.ts';
import { columnOf } from './sql.ts';
import type { Property } from './sql.ts';

/** A read of `T` that returns rows of `Row`. The entity's own table is `t` in every statement. */
export type Selection<T extends object, Row extends object> = {
  readonly entity: EntityName<T>;
  readonly properties: readonly string[];
  readonly one: Relations;
  readonly many: Relations;
  /** For the compiler only: what a row has, and no more. */
  readonly row?: Row;
};

/**
 * `one` reads properties of a record that the selected one points to, as `name.property`, null if there is none. `many`
 * reads all records that point back, as an array, in the same statement, so that everything is from one snapshot.
 */
export function select<
  T extends object,
  const Read extends Property<T>,
  One extends Relations = NoRelations,
  Many extends Relations = NoRelations,
>(
  entity: EntityName<T>,
  properties: readonly Read[],
  { one, many }: { one?: One; many?: Many } = {},
): Selection<T, Pick<T, Read> & OneRow<One> & ManyRow<Many>> {
  return { entity, properties, one: one ?? {}, many: many ?? {} };
}

/** Every stored property of an entity except those that only conditions and keys need. */
export function storedProperties<T extends object, const Without extends Property<T>>(
  entity: EntityName<T> & { meta: { properties: Record<string, { persist?: boolean }> } },
  without: readonly Without[],
): Exclude<Property<T>, Without>[] {
  const left = new Set<string>(without);
  const properties = Object.entries(entity.meta.properties);
  const names = properties.filter(([name, { persist }]) => persist !== false && !left.has(name)).map(([name]) => name);
  // The keys of an entity's metadata are its properties.
  return names as Exclude<Property<T>, Without>[];
}

/** The parts of a statement. */
export type Compiled = {
  /** What is read from `t` and its joins. */
  columns: string;
  /** `from … t` */
  from: string;
  /** Left joins to the records that `t` points to, if any. */
  joins: string;
  /** `where t.organization_id = $1` */
  where: string;
  column(property: string): string;
  /** `text` or `timestamptz`: the type of a column that lists are ordered by. */
  typeOf(property: string): string;
  /** Statements that read single records, keyed by their conditions. */
  texts: Map<string, string>;
  /** A row as the rest of the program sees it. */
  toRow<Row extends object>(read: Row): Row;
};
const compilations = new WeakMap<object, Promise<Compiled>>();

/** Takes MikroORM's statement for the entity, with the organization filter; it is the same for every organization. */
export function compileSelection<T extends object>(selection: Selection<T, object>, scope: Scope): Promise<Compiled> {
  const known = compilations.get(selection);
  if (known) return known;
  const compiled = compile(selection, scope);
  compilations.set(selection, compiled);
  compiled.catch(() => compilations.delete(selection));
  return compiled;
}

async function compile<T extends object>(selection: Selection<T, object>, scope: Scope): Promise<Compiled> {
  const em = scope[statements].manager();
  const builder = em.createQueryBuilder(selection.entity, 't').select([raw('1')]);
  await builder.applyFilters();
  const { sql, params } = builder.toQuery();
  const [, from, where] = /^select 1 (from .+?) where ([^?]+\?)$/.exec(sql) ?? [];
  if (from === undefined || where === undefined || params[0] !== scope.organizationId) {
    throw new Error(`The organization filter did not give exactly one condition: ${sql}`);
  }
  const meta = em.getMetadata(selection.entity);
  const column = (property: string) => `t.${columnOf(meta, property)}`;
  const columns = selection.properties.map((property) => `${column(property)} as "${property}"`);
  const joins: string[] = [];
  for (const [name, related] of Object.entries(selection.one)) {
    const alias = `one_${joins.length + 1}`;
    const other: EntityMetadata = em.getMetadata(related.entity);
    joins.push(` left join ${other.tableName} ${alias} on ${sameOrganization(alias, other, related, column)}`);
    columns.push(
      ...related.properties.map((property) => `${alias}.${columnOf(other, property)} as "${name}.${property}"`),
    );
  }
  for (const [name, related] of Object.entries(selection.many)) {
    columns.push(`${arrayOf(em.getMetadata(related.entity), related, column)} as "${textOf(name)}"`);
  }
  return {
    columns: columns.join(', '),
    from,
    joins: joins.join(''),
    where: `where ${where.replace('?', '$1')}`,
    column,
    typeOf: (property) => (meta.props.find(({ name }) => name === property)?.columnTypes[0] ?? '').replace(/\(.*/, ''),
    texts: new Map(),
    toRow: withNames(selection.many),
  };
}

/**
 * Arrays without property names: PostgreSQL would spend more on the names of 17 properties than on their values. As text,
 * because the driver would parse the lists of all records at once.
 */
function arrayOf(meta: EntityMetadata, related: Related, column: Compiled['column']): string {
  const values = related.properties.map((property) => jsonColumn(meta, property));
  const order = related.orderBy === undefined ? '' : ` order by m.${columnOf(meta, related.orderBy)}`;
  return `(select coalesce(json_agg(json_build_array(${values.join(', ')})${order}), '[]')::text
    from ${meta.tableName} m where ${sameOrganization('m', meta, related, column)})`;
}

const textOf = (name: string) => `${name}.text`;

/** Through a prototype, because an own getter would keep each row until the next full garbage collection. */
function withNames(many: Relations): Compiled['toRow'] {
  const lists = Object.entries(many).map(([name, { properties }]) => {
    function get(this: object) {
      // As arrayOf() writes it.
      const text = Reflect.get(this, textOf(name)) as string;
      return (JSON.parse(text) as unknown[][]).map(named(properties));
    }
    return [name, { get }] as const;
  });
  const prototype = Object.defineProperties({}, Object.fromEntries(lists));
  return (read) => (lists.length === 0 ? read : (Object.setPrototypeOf(read, prototype) as typeof read));
}

const named = (properties: readonly string[]) => (values: readonly unknown[]) => {
  const record: Record<string, unknown> = {};
  for (let index = 0; index < properties.length; index += 1) record[properties[index] ?? ''] = values[index];
  return record;
};

/** Decimals are read as text, because JSON would turn them into floats. */
function jsonColumn(meta: EntityMetadata, property: string): string {
  const isDecimal = meta.props.find(({ name }) => name === property)?.columnTypes[0]?.startsWith('numeric');
  return `m.${columnOf(meta, property)}${isDecimal ? '::text' : ''}`;
}

/**
 * Everything joined or looked up with a record belongs to the caller's organization. `$1` rather than the record's column:
 * only a value tells Citus that a subquery stays on one shard.
 */
function sameOrganization(alias: string, meta: EntityMetadata, { where }: Related, column: Compiled['column']): string {
  const pairs = Object.entries(where).map(([theirs, ours]) => `${alias}.${columnOf(meta, theirs)} = ${column(ours)}`);
  return [`${alias}.${columnOf(meta, 'organizationId')} = $1`, ...pairs].join(' and ');
}
