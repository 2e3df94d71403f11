/** A file that was uploaded for import: what it contains, its progress, and what became of it. */
import { defineEntity, p } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';
import { filters, optionalJson, optionalText, optionalTimestamp, owned, timestamp } from './owned.ts';

/**
 * `uploading` → `checking` → `mapping` (if an admin has to choose) → `checking` → `checked` → `importing` → `imported`;
 * `failed` if the file cannot be imported at all, `stopped` if the import stopped before the end.
 */
export type UploadState =
  | 'uploading'
  | 'checking'
  | 'mapping'
  | 'checked'
  | 'importing'
  | 'imported'
  | 'failed'
  | 'stopped';
export const workingStates = ['uploading', 'checking', 'importing'] as const satisfies UploadState[];

export const importKinds = ['customers', 'items', 'proposals'] as const;
export type ImportKind = (typeof importKinds)[number];

/** The field by which rows are matched to the records that they change; `none` creates a record for every row. */
export const matches = ['externalId', 'email', 'sku', 'none'] as const;
export type Match = (typeof matches)[number];

/** What a person chooses for a file. */
export type ImportChoices = {
  /** Column of the file → field of the record; an empty field leaves the column out. */
  map?: Record<string, string> | undefined;
  /** Stores columns that are not fields in the metadata, under their own names. */
  restToMetadata?: boolean | undefined;
  decimalPoint?: '.' | ',' | undefined;
  dateOrder?: 'day-month' | 'month-day' | undefined;
  match?: Match | undefined;
  /** The type of rows that have none. */
  type?: string | undefined;
};

/** `map` is from all files; `match` and `type` apply only to files with the same `columns` as the last one. */
export type RememberedChoices = Pick<ImportChoices, 'map' | 'match' | 'type'> & { columns?: string[] };

/** The counts of a dry run or an import, its notes, and the first errors. */
export type UploadSummary = {
  read: number;
  created: number;
  updated: number;
  unchanged: number;
  rejected: number;
  notes: string[];
  errors: { line: number; field: string; message: string }[];
};

/** The first rows as they will be read: each field with its value as text, or what is wrong with the row. */
export type UploadRow = { line: number; values: [field: string, text: string][]; errors: string[] };

/**
 * The stored ids of the first records that the import wrote. `stored`, only until the end: how many rows are stored, if
 * each of them creates a record.
 */
export type UploadRecords = { created: string[]; updated: string[]; stored?: number };

export const Upload = defineEntity({
  name: 'Upload',
  tableName: 'uploads',
  filters,
  properties: {
    ...owned,
    memberId: p.uuid(),
    kind: p.text().$type<ImportKind>(),
    fileName: p.text(),
    mapping: p.json<ImportChoices>(),
    /** What the file contains, with the first values of its columns: the inspection of server/import. */
    inspection: optionalJson<object>(),
    state: p.text().$type<UploadState>(),
    bytesRead: p.bigint('number').onCreate(() => 0),
    bytesTotal: p.bigint('number'),
    rowsRead: p.integer().onCreate(() => 0),
    rows: p.json<UploadRow[]>().onCreate(() => []),
    /** Of the dry run, later of the import. */
    summary: optionalJson<UploadSummary>(),
    records: p.json<UploadRecords>().onCreate(() => ({ created: [], updated: [] })),
    /** Why it failed. */
    failure: optionalText(),
    /** When the file was discarded because it may hold the data of an erased customer. */
    erasedAt: optionalTimestamp(),
    createdAt: timestamp().defaultRaw('now()'),
    /** The last heartbeat of the process that works on it. */
    activeAt: timestamp().defaultRaw('now()'),
    /** When the transaction that loaded this record began. */
    transactionStart: timestamp().formula('now()::timestamptz(3)').persist(false),
  },
});
export type Upload = InferEntity<typeof Upload>;

/** What the columns of an organization's files meant last time, for the next file of the same kind. */
export const ImportMapping = defineEntity({
  name: 'ImportMapping',
  tableName: 'import_mappings',
  filters,
  properties: { ...owned, kind: p.text().$type<ImportKind>(), choices: p.json<RememberedChoices>() },
});
export type ImportMapping = InferEntity<typeof ImportMapping>;

const silentForMs = 20_000;

/**
 * Whether a process is still working on it: one that was killed sends no heartbeat. A heartbeat from the future was sent
 * before the database's clock was set back.
 */
export function isWorking({ state, activeAt, transactionStart }: Upload): boolean {
  const isBusy = workingStates.some((one) => one === state);
  return isBusy && Math.abs(Date.parse(transactionStart) - Date.parse(activeAt)) < silentForMs;
}

/** Whether an import was interrupted and can be started again. */
export const isInterrupted = (upload: Upload): boolean =>
  upload.summary !== null && (upload.state === 'stopped' || (upload.state === 'importing' && !isWorking(upload)));

/** Whether the meaning of its columns can still be chosen. */
export const isOpen = ({ state, inspection }: Upload): boolean =>
  inspection !== null && ['mapping', 'checked', 'failed'].includes(state);
