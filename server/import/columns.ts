/** Maps the columns of a CSV file to fields, and their cells to values. */
import type { z } from 'zod';
import { metadataPatch } from '../../contract/metadata.ts';
import { nearest } from '../../contract/nearest.ts';
import { UsageError } from '../config.ts';
import { addressParts } from '../entities/customer.ts';
import { isReportHeader } from './rejects.ts';
import { presetFor } from './presets/presets.ts';
import type { Preset } from './presets/presets.ts';
import { placerOf } from './cells.ts';
import type { Delimiter } from './delimiter.ts';

const objects: ReadonlySet<string> = new Set(['address', 'shippingAddress', 'acceptedBy', 'owner']);
const metadataPrefix = 'metadata.';

export type Mapping = {
  /** Column of the file → field of the record; an empty field leaves the column out. */
  map?: Readonly<Record<string, string>> | undefined;
  /** Keeps columns that are not fields under metadata, by their own names. */
  restToMetadata?: boolean | undefined;
};

export type ColumnPlan = {
  header: readonly string[];
  /** Notes for the user on how the file is read. */
  notes: string[];
  preset: string | undefined;
  /** The field of each column; undefined for one that is left out. */
  fields: readonly (string | undefined)[];
  /** The column that holds the record as JSON, in a report about rows of a JSON file. */
  documentAt: number | undefined;
  /** How many rows did not stand for a record of their own. */
  skipped(): number;
  /** The record that the cells describe; undefined if the row does not stand for a record of its own. */
  read(cells: readonly string[]): Record<string, unknown> | undefined;
};

type Kind = { name: string; columns: readonly string[]; record: z.ZodObject };

/** A dot stands for a field inside an object. */
export function columnsOf(schema: z.ZodObject): string[] {
  return Object.keys(schema.shape).flatMap((name) => {
    if (name === 'address' || name === 'shippingAddress') return addressParts.map((part) => `${name}.${part}`);
    if (name === 'acceptedBy' || name === 'owner') return [`${name}.name`, `${name}.email`];
    return name === 'metadata' || name === 'lineItems' ? [] : [name];
  });
}

/** Rejects a header before anything is imported. */
export function planColumns(
  header: readonly string[],
  delimiter: Delimiter,
  kind: Kind,
  mapping: Mapping = {},
): ColumnPlan {
  const own = isReportHeader(header) ? 4 : 0;
  const named = header.slice(own);
  rejectDuplicates(named);
  const documentAt = own > 0 && named.length === 1 && named[0] === 'row' ? own : undefined;
  const preset = presetFor(kind.name, named);
  const known = { ...kind, mapping, preset, header: named };
  rejectUnknownMappings(known);
  const left: string[] = [];
  const isDocument = documentAt !== undefined;
  const isLeft = (index: number) => isDocument || index < own;
  const fields = header.map((name, index) => (isLeft(index) ? undefined : fieldOf(name, index, known, left)));
  if (!isDocument && !preset?.isKeyed) requireKey(fields);
  const notes = notesOn(delimiter, preset, left, mapping);
  return { header, fields, notes, preset: preset?.name, documentAt, ...reader(header, fields, delimiter, preset) };
}

function rejectDuplicates(header: readonly string[]): void {
  header.forEach((name, index) => {
    if (name !== '' && header.indexOf(name) !== index) throw new UsageError(`column ${name} appears twice`);
  });
}

type Known = Kind & { mapping: Mapping; preset: Preset | undefined; header: readonly string[] };

function rejectUnknownMappings({ mapping: { map = {} }, header, columns }: Known): void {
  for (const [column, field] of Object.entries(map)) {
    if (!header.includes(column)) {
      const suggestion = nearest(column, header);
      throw new UsageError(`the mapping names column ${column}, which the file does not have${suggest(suggestion)}`);
    }
    if (field !== '' && !columns.includes(field) && !field.startsWith(metadataPrefix)) {
      throw new UsageError(
        `the mapping names ${field}, which is not a field of this record${suggest(nearest(field, columns))}`,
      );
    }
  }
}

const suggest = (name: string | undefined) => (name ? `; did you mean ${name}?` : '');

/** The field that a column is for; undefined for one that is left out, which is added to `left` unless that was asked for. */
function fieldOf(name: string, index: number, known: Known, left: string[]): string | undefined {
  const { mapping, preset, columns } = known;
  const mapped = mapping.map?.[name];
  if (mapped !== undefined) return mapped === '' ? undefined : mapped;
  const ofPreset = preset?.fieldOf(name);
  if (ofPreset !== undefined) return ofPreset;
  if (!preset && (columns.includes(name) || (name.startsWith(metadataPrefix) && !problemOf(name, known)))) return name;
  if (mapping.restToMetadata && name !== '') return metadataFieldOf(name);
  if (preset || mapping.map) {
    left.push(name === '' ? String(index + 1) : name);
    return undefined;
  }
  throw new UsageError(`column ${name === '' ? index + 1 : name} ${problemOf(name, known) ?? ''}`);
}

function metadataFieldOf(name: string): string {
  const key = name.replaceAll(/[^A-Za-z0-9_.-]+/g, '_').replaceAll(/^_+|(?<!_)_+$/g, '');
  return `${metadataPrefix}${key.slice(0, 40) || 'column'}`;
}

function problemOf(name: string, { columns, record }: Kind): string | undefined {
  if (name === '') return 'has no name';
  if (name.startsWith(metadataPrefix)) {
    const key = name.slice(metadataPrefix.length);
    return metadataPatch.safeParse(Object.fromEntries([[key, '']])).error?.issues[0]?.message;
  }
  if (name === 'metadata') return 'needs a key, such as metadata.segment';
  if (objects.has(name)) return `needs a part, such as ${name}.${columns.includes(`${name}.city`) ? 'city' : 'name'}`;
  if (name === 'lineItems') return 'does not fit into CSV: import lines from JSON Lines';
  if (Object.keys(record.shape).includes(name)) return 'is set by the server and cannot be imported';
  const suggestion = nearest(name, columns);
  return `is not a field of this record${suggest(suggestion)}`;
}

function requireKey(fields: readonly (string | undefined)[]): void {
  if (fields.includes('externalId') || fields.includes('id')) return;
  throw new UsageError(
    'the column externalId is missing: it tells the records apart. Map another column to it: "Column=externalId".',
  );
}

function notesOn(delimiter: Delimiter, preset: Preset | undefined, left: string[], mapping: Mapping): string[] {
  const notes: string[] = [];
  if (preset) notes.push(`Recognized as an export from ${preset.name}.`);
  if (delimiter === ';') notes.push('Columns are separated by semicolons: a comma in a number is its decimal point.');
  if (delimiter === '\t') notes.push('Columns are separated by tabs.');
  if (left.length > 0) notes.push(`Columns not imported: ${left.join(', ')}.`);
  if (left.length > 0 && !mapping.restToMetadata) notes.push('--rest-to-metadata keeps them in metadata.');
  return notes;
}

function reader(
  header: readonly string[],
  fields: readonly (string | undefined)[],
  delimiter: Delimiter,
  preset: Preset | undefined,
): Pick<ColumnPlan, 'read' | 'skipped'> {
  const complete = preset?.completer(header);
  const places = fields.flatMap((field, index) =>
    field === undefined ? [] : [{ index, place: placerOf(field, delimiter, preset) }],
  );
  let skipped = 0;
  const read: ColumnPlan['read'] = (cells) => {
    const whole = complete ? complete(cells) : cells;
    if (!whole) {
      skipped += 1;
      return undefined;
    }
    const row: Record<string, unknown> = {};
    for (const { index, place } of places) place(row, whole[index] ?? '');
    return preset ? preset.finish({ ...preset.fixed, ...row }) : row;
  };
  return { read, skipped: () => skipped };
}
