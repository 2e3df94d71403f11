/** A file that was uploaded to be imported: the latest one of an organization, and how far it is. */
import { defineEntity, p } from '@mikro-orm/core';
import type { InferEntity } from '@mikro-orm/core';
import { filters, optionalText, owned, timestamp } from './owned.ts';

/**
 * `uploading` → `checking` → `checked` → `importing` → `imported`; `failed` where the file as a whole cannot be imported,
 * `stopped` where the server stopped before the end.
 */
export type UploadState = 'uploading' | 'checking' | 'checked' | 'importing' | 'imported' | 'failed' | 'stopped';
export const workingStates = ['uploading', 'checking', 'importing'] as const satisfies UploadState[];

export const uploadKinds = ['customers', 'items', 'proposals'] as const;
export type UploadKind = (typeof uploadKinds)[number];

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

export const Upload = defineEntity({
  name: 'Upload',
  tableName: 'uploads',
  filters,
  properties: {
    ...owned,
    memberId: p.uuid(),
    kind: p.text().$type<UploadKind>(),
    fileName: p.text(),
    /** What its columns mean, where the member said so. */
    mapping: p.json<{ map?: Record<string, string>; restToMetadata: boolean }>(),
    state: p.text().$type<UploadState>(),
    bytesRead: p.bigint('number').onCreate(() => 0),
    bytesTotal: p.bigint('number').onCreate(() => 0),
    rowsRead: p.integer().onCreate(() => 0),
    rows: p.json<UploadRow[]>().onCreate(() => []),
    /** Of the dry run, and then of the import. */
    summary: p
      .json<UploadSummary>()
      .$type<UploadSummary | null>()
      .strictNullable()
      .onCreate(() => null),
    /** Why it failed. */
    failure: optionalText(),
    createdAt: timestamp().defaultRaw('now()'),
    /** When the process that works on it last said so. */
    activeAt: timestamp().defaultRaw('now()'),
    /** When the transaction that loaded this record began. */
    transactionStart: timestamp().formula('now()::timestamptz(3)').persist(false),
  },
});
export type Upload = InferEntity<typeof Upload>;

const silentForMs = 20_000;

/** Whether a process is still working on it: one that was killed no longer says so. */
export function isWorking({ state, activeAt, transactionStart }: Upload): boolean {
  const isBusy = workingStates.some((one) => one === state);
  return isBusy && Date.parse(transactionStart) - Date.parse(activeAt) < silentForMs;
}

/** Whether an import was interrupted and can be started again. */
export const isInterrupted = (upload: Upload): boolean =>
  upload.summary !== null && (upload.state === 'stopped' || (upload.state === 'importing' && !isWorking(upload)));
