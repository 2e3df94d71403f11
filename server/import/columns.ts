/** What the columns of a table mean: which field each one fills, and how its numbers and dates are read. */
import type { ImportChoices, Match } from '../entities/upload.ts';
import { nearest } from '../../contract/nearest.ts';
import { UsageError } from '../config.ts';
import { cellSetter, readingsOf } from './cells.ts';
import type { Question, Readings } from './cells.ts';
import { currencySigns } from './currency-signs.ts';
import { isAmount, isEmpty, isUnnamed, metadataFieldOf, metadataProblem } from './fields.ts';
import { isJson } from './inspect.ts';
import type { Inspection } from './inspect.ts';
import type { Entry, Kind } from './kind.ts';
import type { Preset } from './presets/preset.ts';
import { completer, presetField, presetFor } from './presets/presets.ts';
import { plainNotation, reportWidth } from './report.ts';
import type { Notation } from './report.ts';
import type { Cell } from './source.ts';

export type ColumnPlan = {
  /** Notes for the user on how the file is read. */
  notes: string[];
  preset: string | undefined;
  /** The field of each column; undefined if the column is left out. */
  fields: readonly (string | undefined)[];
  /** The column that holds the record as JSON, in a report about rows of a JSON file. */
  documentAt: number | undefined;
  /** What is wrong with the header; nothing is imported while a plan has faults or questions. */
  faults: string[];
  questions: Question[];
  /** How the file writes numbers and dates, for a report of its rejected rows. */
  notation: Notation;
  /** The record of a row, and its cells with those of earlier rows; undefined if it is not a separate record. */
  read(cells: readonly Cell[]): Pick<Entry, 'value' | 'signs' | 'raw'> | undefined;
};

export function planColumns(inspection: Inspection, kind: Kind, choices: ImportChoices = {}): ColumnPlan {
  if (isJson(inspection)) return planDocuments(inspection, choices);
  const { columns } = inspection;
  const header = columns.map(({ name }) => name);
  const own = reportWidth(header);
  if (own > 0 && header.length === own + 1 && header[own] === 'row') return planDocuments(inspection, {}, own);
  const preset = presetFor(kind.name, header.slice(own));
  const faults = mappingFaults(header, kind, choices);
  const left: string[] = [];
  const taken = new Set([...header, ...Object.values(choices.map ?? {})]);
  const known = { ...kind, choices, preset, faults, left, header, taken };
  const fields = columns.map((column, index) =>
    index < own || isEmpty(column) ? undefined : fieldOf(column.name, known),
  );
  if (!preset?.isKeyed) faults.push(...keyFaults(fields, kind, choices.match));
  const readings = readingsOf({ columns, fields, preset }, choices);
  const notes = [...notesOn(inspection, preset), ...readings.notes, ...matchNotes[choices.match ?? 'externalId']];
  if (left.length > 0) notes.push(`Columns not imported: ${left.join(', ')}.`);
  const fixed = { ...preset?.fixed, ...(choices.type && { type: choices.type }) };
  return {
    notes,
    preset: preset?.name,
    fields,
    documentAt: undefined,
    faults: [...new Set(faults)],
    questions: readings.questions,
    notation: readings.notation,
    read: reader(header, fields, readings, { preset, fixed }),
  };
}

/** For a JSON file, or a column of JSON documents. */
function planDocuments(inspection: Inspection, { map = {}, restToMetadata }: ImportChoices, documentAt?: number) {
  const isMapped = restToMetadata === true || Object.keys(map).length > 0;
  const faults = isMapped ? ['Column mapping applies to CSV files and workbooks only.'] : [];
  const nothing = { preset: undefined, fields: [], questions: [], notation: plainNotation, read: () => undefined };
  return { ...nothing, notes: notesOn(inspection, undefined), documentAt, faults };
}

/** Throws one UsageError with all faults and open questions. */
export function requireNoFaults({ faults, questions }: ColumnPlan): void {
  const asked = questions.map(
    ({ about, examples }) => `${open[about]} ${examples.map((one) => `"${one}"`).join(' and ')}.`,
  );
  if (faults.length + asked.length > 0) throw new UsageError([...faults, ...asked].join('\n'));
}

const open: Record<Question['about'], string> = {
  decimalPoint: 'Use --decimal-point to say whether numbers have a dot or a comma. The file contains',
  dateOrder: 'Use --date-order to say whether the day or the month comes first. The file contains',
};

function mappingFaults(header: readonly string[], { columns }: Kind, { map = {} }: ImportChoices): string[] {
  const [names, fields] = [new Set(header), new Set(columns)];
  const chosen = new Map<string, string>();
  return Object.entries(map).flatMap(([column, field]) => {
    if (!names.has(column))
      return [`the mapping names column ${column}, which the file does not have${suggest(nearest(column, header))}`];
    if (field === '') return [];
    if (!fields.has(field) && metadataProblem(field) !== undefined)
      return [`the mapping names ${field}, which is not a field of this record${suggest(nearest(field, columns))}`];
    const other = chosen.get(field);
    chosen.set(field, column);
    return other === undefined ? [] : [`the columns ${other} and ${column} are both mapped to ${field}`];
  });
}

const suggest = (name: string | undefined) => (name ? `; did you mean ${name}?` : '');

/** The field chosen for a column. A column may have the name of an inherited property, such as `constructor`. */
export const chosenFor = ({ map = {} }: Pick<ImportChoices, 'map'>, column: string): string | undefined =>
  Object.hasOwn(map, column) ? map[column] : undefined;

type Known = Kind & {
  header: readonly string[];
  choices: ImportChoices;
  preset: Preset | undefined;
  faults: string[];
  left: string[];
  /** The fields that other columns fill. */
  taken: Set<string>;
};

/** The field that a column fills; undefined if the column is left out or has a fault. */
function fieldOf(name: string, known: Known): string | undefined {
  const { choices, preset, columns, header, faults, left, taken } = known;
  const mapped = chosenFor(choices, name);
  if (mapped !== undefined) return mapped === '' ? undefined : mapped;
  const ofPreset = preset && presetField(preset, name, taken);
  if (ofPreset !== undefined) return ofPreset;
  const isOwn = columns.includes(name) || metadataProblem(name) === undefined;
  if (!preset && isOwn) return name;
  if (choices.restToMetadata && !isUnnamed(name)) return metadataFieldOf(name, taken);
  const [, first = ''] = /^(.*) \(\d+\)$/s.exec(name) ?? [];
  if (preset || choices.map) left.push(name);
  else if (header.includes(first)) faults.push(`column "${first}" appears twice; rename or delete one of them`);
  else faults.push(`${isUnnamed(name) ? name : `column "${name}"`} ${problemOf(name, known)}`);
  return undefined;
}

function problemOf(name: string, { columns, record }: Kind): string {
  if (isUnnamed(name)) return 'has no name; give it one or delete it';
  if (name.startsWith('metadata')) return metadataProblem(name) ?? '';
  const part = columns.find((column) => column.startsWith(`${name}.`));
  if (part !== undefined) return `needs a part, such as ${part.replace(/\.line1$/, '.city')}`;
  if (name === 'lineItems') return 'cannot be imported from CSV: use JSON Lines for proposals with lines';
  if (Object.hasOwn(record.shape, name)) return 'is set by the server and cannot be imported';
  return `is not a field of this record${suggest(nearest(name, columns)) || restHint}`;
}

const restHint = '; choose one with --map, or keep such columns with --rest-to-metadata';

function keyFaults(fields: readonly (string | undefined)[], kind: Kind, match: Match = 'externalId'): string[] {
  if (!kind.matches.includes(match)) return [`${kind.name} cannot be matched by ${match}`];
  if (match === 'none' || fields.includes(match) || (match === 'externalId' && fields.includes('id'))) return [];
  return match === 'externalId'
    ? [
        'the externalId column is missing; it identifies each record. Map another column to it, or match by another field',
      ]
    : [`no column is mapped to ${match}, by which the rows are matched`];
}

/** Noted because the choice is remembered for the next file. */
const matchNotes: Record<Match, string[]> = {
  externalId: [],
  email: ['A row changes the record that has its email address.'],
  sku: ['A row changes the record that has its SKU.'],
  none: ['Every row creates a record.'],
};

function notesOn({ delimiter, encoding, sheets = 1 }: Inspection, preset: Preset | undefined): string[] {
  const notes: string[] = [];
  if (sheets > 1) notes.push(`The workbook has ${sheets} sheets, of which only the first visible one is read.`);
  if (preset) notes.push(`Recognized as an export from ${preset.name}.`);
  if (delimiter === ';') notes.push('Columns are separated by semicolons.');
  if (delimiter === '\t') notes.push('Columns are separated by tabs.');
  if (encoding === 'windows-1252')
    notes.push('The file is not UTF-8 and was read as Windows-1252. Check names with accents.');
  return notes;
}

function reader(
  header: readonly string[],
  fields: readonly (string | undefined)[],
  readings: Readings,
  { preset, fixed }: { preset: Preset | undefined; fixed: Record<string, unknown> },
): ColumnPlan['read'] {
  const complete = preset && completer(header, preset);
  const finish = preset?.finish ?? ((row) => row);
  const places = fields.flatMap((field, index) =>
    field === undefined ? [] : [{ index, place: cellSetter(field, readings, preset) }],
  );
  const amounts = fields.flatMap((field = '', index) => (isAmount(field) ? [{ field, index }] : []));
  const constants = Object.entries(fixed);
  return (cells) => {
    const whole = complete ? complete(cells) : cells;
    if (!whole) return undefined;
    const row: Record<string, unknown> = {};
    for (const { index, place } of places) place(row, whole[index] ?? '');
    for (const [name, value] of constants) row[name] ??= value;
    const signs = amounts.flatMap((at) => currencySigns(at.field, String(whole[at.index])));
    return { value: finish(row), signs, raw: whole };
  };
}
