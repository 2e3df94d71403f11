/** What customers, items and proposals each define, so that one importer serves all three. */
import type { z } from 'zod';
import type { RecordName } from '../../contract/v1.ts';
import type { RecordTable, Values } from '../records/record-table.ts';
import type { ImportKind, Match } from '../entities/upload.ts';
import type { Announcement } from './announcement.ts';
import type { Cell } from './source.ts';
import type { Store } from './store.ts';

/** Why a row is not imported; `field` is empty if the row as a whole is wrong. The errors of a Problem are rejections. */
export type Rejection = { field: string; code: string; message: string };
/** The outcome of a row. A rejected row has changed nothing. */
export type Outcome = 'created' | 'updated' | 'unchanged' | Rejection[];

export type CurrencySign = { field: string; sign: string };

/** A row of the file: what was read, and what became of it. */
export type Entry = {
  /** The line where it starts, from 1. */
  line: number;
  /** The row's number in the file, from 1. */
  number?: number;
  /** The cells that the report of rejected rows repeats. */
  raw: readonly Cell[];
  size: number;
  /** Whether it was read from cells, which a spreadsheet may have shortened. */
  isCells?: true;
  value: unknown;
  signs?: CurrencySign[];
  /** The value, once it has been validated. */
  row?: Keyed;
  /** What its record would be if it were new. */
  draft?: RowResult | Rejection[];
  id?: string;
  /** Undefined until it is known. */
  outcome?: Outcome;
  /** The fields that keep what is stored, because a spreadsheet has shortened their values. */
  restored?: ReadonlySet<string>;
};

export type Keyed = { id?: string | undefined; externalId?: string | null | undefined };
export type Identified = { id: string };

/** A value that is unique within an organization. */
export type UniqueKey = { field: string; property: string; column: string; code: string };

export type LineChanges = { created: Values[]; changed: Values[]; removed: string[] };

/** The result of a valid row: values for a new or stored record, and the changes to its lines. */
export type RowResult = { values: Values; lines?: LineChanges };

/**
 * May throw a Problem. Typed as a method, whose parameters are bivariant: the importer knows only the keys of rows and
 * records, but passes each planner only those of its own kind.
 */
export type Planner<Row = Keyed, Stored = Identified> = {
  plan(row: Row, stored: Stored | undefined): RowResult | Rejection[];
}['plan'];

export type Kind<Row extends Keyed = Keyed, Stored extends Identified = Identified> = {
  name: ImportKind;
  id: RecordName;
  schema: z.ZodType<Row>;
  /** The record as the API returns it; only the server sets the fields that `schema` lacks. */
  record: z.ZodObject;
  /** The columns that a CSV file may have. */
  columns: readonly string[];
  /** The fields that a new record must have. */
  required: readonly string[];
  /** The fields by which rows can be matched to records. */
  matches: readonly Match[];
  unique?: UniqueKey;
  /** A statement that selects the externalIds in `$2` that no record may have, and the rejection of their rows. */
  refusedValues?: { externalIds: string; rejection: Rejection };
  /** Whether the record has no line items. */
  isFlat: boolean;
  /** How many database rows it becomes; one if the record is flat. */
  weigh?(row: Row): number;
  /** Loads what these rows refer to, in a fixed number of queries. */
  planner(store: Store, rows: readonly Row[], stored: readonly (Stored | undefined)[]): Promise<Planner<Row, Stored>>;
};

/** One import of a kind. */
export type Work = {
  store: Store;
  kind: Kind;
  table: RecordTable<Identified>;
  match: Match;
  announcement: Announcement | undefined;
  /**
   * Whether keys may have lost leading zeros: not if a key in the file has some, or no stored key. Undefined until it is
   * known, or if the rows are not the cells of a table.
   */
  zeros: { areDropped?: boolean } | undefined;
  /** An upload in which every row creates a record, and how many of its rows are already stored. */
  resumed?: { uploadId: string; stored: number } | undefined;
};

export function rejectMissing<T extends object>(row: T, names: readonly (keyof T & string)[]): Rejection[] {
  const missing = names.filter((name) => row[name] === undefined);
  return missing.map((field) => ({ field, code: 'required', message: 'is required for a new record' }));
}
