/** A table as files are read from and written to it: columns, their text for COPY and derived values, all from the entity. */
import { isDeepStrictEqual } from 'node:util';
import type { EntityProperty } from '@mikro-orm/postgresql';
import { trimDecimal } from '../../contract/decimal.ts';

export type Values = Record<string, unknown>;

type Column = { property: string; name: string; type: string; prop: EntityProperty };

export class RecordTable<Stored extends object = object> {
  readonly name: string;
  readonly columns: readonly Column[];
  readonly #byProperty: ReadonlyMap<string, Column>;
  /** What the importer reads of a stored record: everything except derived values. */
  readonly #read: readonly Column[];
  readonly #derived: readonly Column[];

  /** Of the entity's metadata. */
  constructor({ tableName, props }: { tableName: string; props: EntityProperty[] }) {
    this.name = tableName;
    this.columns = props.filter(({ persist }) => persist !== false).map(columnOf);
    this.#byProperty = new Map(this.columns.map((column) => [column.property, column]));
    this.#derived = this.columns.filter(
      ({ prop, property }) => prop.onUpdate !== undefined && property !== 'updatedAt',
    );
    this.#read = this.columns.filter((column) => !this.#derived.includes(column));
  }

  /** The column's type, empty if there is none. */
  typeOf(property: string): string {
    return this.#byProperty.get(property)?.type ?? '';
  }

  /** The columns of `select`, read back by `parse`. */
  selection(alias: string): string {
    return this.#read.map(({ name }) => `${alias}.${name}`).join(', ');
  }

  parse(row: readonly unknown[]): Stored {
    const values: Values = {};
    this.#read.forEach(({ property }, index) => {
      values[property] = row[index];
    });
    // The columns are the entity's own: what was read has the shape of the record, without what is derived.
    return values as Stored;
  }

  /** A new record, with the entity's defaults for absent values. */
  created(values: Values): Values {
    const record: Values = { ...values };
    for (const { property, prop } of this.columns) {
      // Defaults are computed from the record alone; only the organization's takes an entity manager, and it is given.
      if (record[property] === undefined) record[property] = prop.onCreate?.(record, undefined as never);
    }
    return record;
  }

  /** A stored record with other values, and what the entity derives from them. */
  changed(stored: object, values: Values): Values {
    const record: Values = { ...stored, ...values };
    for (const { property, prop } of this.#derived) record[property] = prop.onUpdate?.(record, undefined as never);
    return record;
  }

  /** Whether any of these values differs from what is stored; an absent one does not. */
  differs(stored: object, values: Values): boolean {
    for (const property in values) {
      const wanted = values[property];
      const there: unknown = Reflect.get(stored, property);
      if (wanted === undefined || wanted === there) continue;
      if (!isSame(this.typeOf(property), there, wanted)) return true;
    }
    return false;
  }

  /** The record as a line of COPY's text format. */
  line(record: Values): string {
    return `${this.columns.map(({ property, type }) => encode(record[property], type)).join('\t')}\n`;
  }
}

function columnOf(prop: EntityProperty): Column {
  return { property: prop.name, name: prop.fieldNames[0] ?? '', type: prop.columnTypes[0] ?? '', prop };
}

/** The database prints a decimal with every decimal of its column: `18.0000` is `18`, however many digits there are. */
function isSame(type: string, stored: unknown, wanted: unknown): boolean {
  if (type.startsWith('numeric') && typeof stored === 'string' && typeof wanted === 'string') {
    return trimDecimal(stored) === trimDecimal(wanted);
  }
  return typeof wanted === 'object' && isDeepStrictEqual(stored, wanted);
}

function encode(value: unknown, type: string): string {
  if (value === null || value === undefined) return '\\N';
  if (type === 'jsonb') return escape(JSON.stringify(value));
  if (Array.isArray(value)) return escape(`{${value.map(quoted).join(',')}}`);
  // The rest are strings, numbers, booleans and times.
  return escape(typeof value === 'string' ? value : JSON.stringify(value));
}

const quoted = (element: unknown) => `"${String(element).replaceAll(/["\\]/g, String.raw`\$&`)}"`;
const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escape(text: string): string {
  return /[\\\n\r\t]/.test(text) ? text.replaceAll(/[\\\n\r\t]/g, (character) => escapes[character] ?? '') : text;
}
