/** What customers, items and proposals each define, so that one importer serves all three. */
import type { z } from 'zod';
import type { Kind as IdKind } from '../../contract/fields.ts';
import type { Store } from './store.ts';
import type { RecordTable, Values } from '../records/record-table.ts';

/** Why a row is not imported; `field` is empty if the row as a whole is wrong. */
export type Rejection = { field: string; code: string; message: string };
/** The outcome of a row. A rejected row has changed nothing. */
export type Outcome = 'created' | 'updated' | 'unchanged' | Rejection[];

export type Keyed = { id?: string | undefined; externalId?: string | null | undefined };

/** A value that is unique within an organization. */
export type UniqueKey = { field: string; property: string; column: string; code: string };

export type LineChanges = { created: Values[]; changed: Values[]; removed: string[] };

/** The result of a valid row: values for a new or stored record, and the changes to its lines. */
export type RowResult = { values: Values; lines?: LineChanges };

export type Planner<Row, Stored> = (row: Row, stored: Stored | undefined) => RowResult | Rejection[];

export type Kind<Row extends Keyed = Keyed, Stored extends object = object> = {
  name: 'customers' | 'items' | 'proposals';
  id: IdKind;
  schema: z.ZodType<Row>;
  /** The record as the API returns it: only the server sets its other fields. */
  record: z.ZodObject;
  /** The columns that a CSV file may have. */
  columns: readonly string[];
  unique?: UniqueKey;
  tableOf(store: Store): RecordTable<Stored>;
  /** Whether the record has no lines of its own. */
  isFlat: boolean;
  /** How many database rows it stands for. */
  weigh(row: Row): number;
  /** Loads what these rows refer to, in a fixed number of queries. */
  planner(store: Store, rows: readonly Row[], stored: readonly (Stored | undefined)[]): Promise<Planner<Row, Stored>>;
};
