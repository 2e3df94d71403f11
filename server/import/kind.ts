/** What customers, items and proposals each say of themselves for one importer to serve all three. */
import type { z } from 'zod';
import type { Kind as IdKind } from '../../contract/fields.ts';
import type { Store } from './store.ts';
import type { RecordTable, Values } from '../records/record-table.ts';

/** Why a row is not imported; `field` is empty where the row as a whole is wrong. */
export type Rejection = { field: string; code: string; message: string };
/** What became of a row. A rejected one has changed nothing. */
export type Outcome = 'created' | 'updated' | 'unchanged' | Rejection[];

export type Keyed = { id?: string | undefined; externalId?: string | null | undefined };

/** A value of which an organization has one record only. */
export type UniqueKey = { field: string; property: string; column: string; code: string };

export type LineChanges = { created: Values[]; changed: Values[]; removed: string[] };

/** What a valid row comes to: values for a new record or a stored one, and what happens to its lines. */
export type Wanted = { values: Values; lines?: LineChanges };

export type Planner<Row, Stored> = (row: Row, stored: Stored | undefined) => Wanted | Rejection[];

export type Kind<Row extends Keyed = Keyed, Stored extends object = object> = {
  name: 'customers' | 'items' | 'proposals';
  id: IdKind;
  schema: z.ZodType<Row>;
  /** The record as the API shows it: its other fields are the server's. */
  record: z.ZodObject;
  /** The columns that a CSV file may have. */
  columns: readonly string[];
  unique?: UniqueKey;
  tableOf(store: Store): RecordTable<Stored>;
  /** Whether the record is all there is, without lines of its own. */
  isFlat: boolean;
  /** How many database rows it stands for. */
  weigh(row: Row): number;
  /** Loads what these rows refer to, in a number of queries that does not depend on theirs. */
  planner(store: Store, rows: readonly Row[], stored: readonly (Stored | undefined)[]): Promise<Planner<Row, Stored>>;
};
