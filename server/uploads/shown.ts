/** What the page of an upload shows: the first rows as text, and a summary, both bounded. */
import type { UploadRow, UploadSummary } from '../entities/upload.ts';
import type { Entry } from '../import/kind.ts';
import type { Report } from '../import/report.ts';

const longest = { text: 100, fields: 60, errors: 10, notes: 1000 };

/** The values of a row that is valid, or what is wrong with it. */
export function shownRow({ line, row, value, outcome }: Entry): UploadRow {
  if (row ?? !Array.isArray(outcome))
    return { line, values: valuesOf(Object(value)).slice(0, longest.fields), errors: [] };
  const errors = outcome.map(({ field, message }) => (field === '' ? message : `${field} ${message}`));
  return { line, values: [], errors: errors.slice(0, longest.errors) };
}

/** Each field with its value; a dot stands for a field inside an object, as in a CSV file. */
function valuesOf(record: object, prefix = ''): [string, string][] {
  return Object.entries(record).flatMap(([name, value]: [string, unknown]): [string, string][] => {
    const field = prefix + name;
    if (value === undefined) return [];
    if (name === 'lineItems' && Array.isArray(value)) return [[field, `${value.length} lines`]];
    if (Array.isArray(value)) return [[field, short(value.join(', '))]];
    if (typeof value === 'object' && value !== null) return valuesOf(value, `${field}.`);
    return [[field, value === null ? 'cleared' : short(typeof value === 'string' ? value : JSON.stringify(value))]];
  });
}

const short = (text: string) => (text.length > longest.text ? `${text.slice(0, longest.text).toWellFormed()}…` : text);

export function summaryOf({ notes, errors, ...counts }: Report): UploadSummary {
  return {
    ...counts,
    notes: notes.map((note) => note.slice(0, longest.notes)),
    errors: errors.slice(0, longest.errors).map(({ line, field, message }) => ({ line, field, message })),
  };
}
