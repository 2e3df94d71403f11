/**
 * Everything about a table of records, compiled from its entity: defaults, derived values, equality, the parameterized
 * statements that insert and update one record, and the lines of COPY. The API's writer runs the statements. An import
 * does the same to many rows: `created` and `changed` make its records, `differs` and `isSame` decide what is unchanged,
 * and `line` and `assignments` write them.
 */
import { isDeepStrictEqual } from 'node:util';
import type { EntityMetadata, EntityName, EntityProperty } from '@mikro-orm/postgresql';
import { equalDecimals } from '../../contract/decimal.ts';
import { copyText } from './copy-text.ts';

export type Values = Record<string, unknown>;

type Column = { property: string; name: string; type: string; prop: EntityProperty };

type Insert = {
  /** `insert into customers (…)`, without its values. */
  into: string;
  /** One for each column, `$1` for the organization. */
  parameters: string;
  columns: readonly Column[];
  /** The parameters from `$2` on. */
  values(record: object): unknown[];
};

type Update = {
  /** `$1` is the organization; `t` is the table. A versioned record is changed only if it has the version that was read. */
  text: string;
  /** The parameters from `$2` on. */
  parameters(stored: object, changed: object): unknown[];
  /** Whether it is one of the statements that are kept. */
  prepared: boolean;
};

/** Callers change few combinations of properties. Each connection would keep the plans of all that are prepared. */
const mostUpdates = 40;

const tables = new WeakMap<object, RecordTable>();

/** The table of an entity: compiled once, because its metadata never changes. */
export function recordTable<T extends object>(entity: EntityName<T>, source: () => MetadataSource): RecordTable<T> {
  const known = tables.get(entity) ?? new RecordTable(source().getMetadata(entity));
  tables.set(entity, known);
  // The map's key is the entity whose rows it has.
  return known as RecordTable<T>;
}

export type MetadataSource = { getMetadata<T extends object>(entity: EntityName<T>): EntityMetadata<T> };

/** The database sets these in the API's statements. */
const own: ReadonlySet<string> = new Set(['createdAt', 'updatedAt', 'revision']);
const isOwn = ({ property }: Column) => own.has(property);

export class RecordTable<Stored extends object = object> {
  readonly name: string;
  readonly columns: readonly Column[];
  readonly insert: Insert;
  /** The columns that `parse` reads, of a table that is `t` in the statement. */
  readonly selection: string;
  readonly #byProperty: ReadonlyMap<string, Column>;
  /** What the importer reads of a stored record: everything except derived values. */
  readonly #read: readonly Column[];
  readonly #derived: readonly Column[];
  readonly #empty: Values;
  readonly #updates = new Map<string, Update>();

  constructor({ tableName, props }: { tableName: string; props: EntityProperty[] }) {
    this.name = tableName;
    this.columns = props.filter(({ persist }) => persist !== false).map(columnOf);
    this.#byProperty = new Map(this.columns.map((column) => [column.property, column]));
    this.#empty = Object.fromEntries(this.columns.map(({ property }) => [property, undefined]));
    this.#derived = this.columns.filter((column) => column.prop.onUpdate !== undefined && !isOwn(column));
    this.#read = this.columns.filter((column) => !this.#derived.includes(column));
    this.selection = this.#read.map(({ name }) => `t.${name}`).join(', ');
    const inserted = this.columns.filter((column) => !isOwn(column) && column.property !== 'organizationId');
    this.insert = insertInto(tableName, inserted);
  }

  parse(row: readonly unknown[]): Stored {
    const values: Values = {};
    this.#read.forEach(({ property }, index) => {
      values[property] = row[index];
    });
    // The columns are the entity's own, so the values have the shape of the record, without derived values.
    return values as Stored;
  }

  /** A new record, with the entity's defaults for absent values. */
  created(values: Values): Values {
    const record = this.#recordOf(values);
    for (const { property, prop } of this.columns) {
      // Defaults depend only on the record, except the organization's, which needs an entity manager but is always given.
      if (record[property] === undefined) record[property] = prop.onCreate?.(record, undefined as never);
    }
    return record;
  }

  /** V8 turns an object that gains many properties into a slow dictionary, so a record has all of them from the start. */
  #recordOf(values: Values): Values {
    const record = { ...this.#empty };
    for (const { property } of this.columns) record[property] = values[property];
    return record;
  }

  /** A stored record with new values, including those that the entity derives from them. */
  changed(stored: object, values: Values): Values {
    const record = this.#recordOf({ ...stored, ...values });
    for (const { property, prop } of this.#derived) record[property] = prop.onUpdate?.(record, undefined as never);
    return record;
  }

  /** The properties whose values differ from what is stored; an absent value does not. */
  differing(stored: object, values: object): string[] {
    return Object.keys(values).filter((property) => {
      const wanted: unknown = Reflect.get(values, property);
      return wanted !== undefined && !this.isSame(property, Reflect.get(stored, property), wanted);
    });
  }

  differs(stored: object, values: object): boolean {
    return this.differing(stored, values).length > 0;
  }

  /** The statement that changes these properties, and if `derives` is set, everything that the entity derives. */
  update(properties: readonly string[], { derives }: { derives: boolean }): Update {
    const key = `${derives} ${properties.join()}`;
    const known = this.#updates.get(key);
    if (known) return known;
    const columns = properties.flatMap((property) => this.#byProperty.get(property) ?? []);
    const all = derives ? [...columns, ...this.#derived] : columns;
    const prepared = this.#updates.size < mostUpdates;
    const update = { ...updateOf(this.name, all, this.#byProperty.has('revision')), prepared };
    if (prepared) this.#updates.set(key, update);
    return update;
  }

  /** Decimals are equal by value (the database prints `18` as `18.0000`), objects regardless of the order of their keys. */
  isSame(property: string, stored: unknown, wanted: unknown): boolean {
    if (stored === wanted) return true;
    if (typeof stored === 'string' && typeof wanted === 'string')
      return Boolean(this.#byProperty.get(property)?.type.startsWith('numeric')) && equalDecimals(stored, wanted);
    return typeof wanted === 'object' && isDeepStrictEqual(stored, wanted);
  }

  /** The record as a line of COPY's text format, for all columns in their order. */
  line(record: Values): string {
    return `${this.columns.map(({ property, type }) => copyText(record[property], type)).join('\t')}\n`;
  }

  /** For `update … t set … from … s`: every column but the keys from a staged row. */
  assignments(): string {
    const sets = this.columns.filter(({ prop }) => !prop.primary);
    return sets.map(({ property, name }) => `${name} = ${moved[property] ?? `s.${name}`}`).join(', ');
  }
}

/** updatedAt is never earlier than what is stored: a transaction that waited began before the one it waited for. */
const moved: Readonly<Record<string, string>> = {
  updatedAt: 'greatest(t.updated_at, s.updated_at)',
  revision: 't.revision + 1',
};

function insertInto(tableName: string, columns: readonly Column[]): Insert {
  const parameters = columns.map(({ type }, index) => `$${index + 2}::${type}`);
  return {
    into: `insert into ${tableName} (organization_id, ${columns.map(({ name }) => name).join(', ')})`,
    parameters: ['$1::uuid', ...parameters].join(', '),
    columns,
    values: valuesOf(columns),
  };
}

function updateOf(tableName: string, columns: readonly Column[], isVersioned: boolean): Omit<Update, 'prepared'> {
  const keys = isVersioned ? ['id', 'revision', 'updatedAt'] : ['id'];
  const sets = columns.map(({ name, type }, index) => `${name} = $${index + keys.length + 2}::${type}`);
  const values = valuesOf(columns);
  return {
    text: isVersioned
      ? `update ${tableName} t set ${sets.join(', ')}, updated_at = greatest(now(), t.updated_at), revision = t.revision + 1
         where t.organization_id = $1 and t.id = $2 and t.revision = $3 and t.updated_at = $4`
      : `update ${tableName} t set ${sets.join(', ')} where t.organization_id = $1 and t.id = $2`,
    parameters: (stored, changed) => [...keys.map((key): unknown => Reflect.get(stored, key)), ...values(changed)],
  };
}

const valuesOf = (columns: readonly Column[]) => (record: object) =>
  columns.map(({ property, type }) => {
    const value: unknown = Reflect.get(record, property) ?? null;
    return value !== null && type === 'jsonb' ? JSON.stringify(value) : value;
  });

function columnOf(prop: EntityProperty): Column {
  return { property: prop.name, name: prop.fieldNames[0] ?? '', type: prop.columnTypes[0] ?? '', prop };
}
