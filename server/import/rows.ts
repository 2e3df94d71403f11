/** The rows of a file in any supported format. */
import type { z } from 'zod';
import { planColumns } from './columns.ts';
import type { Mapping } from './columns.ts';
import { readCsv, readHeader } from './csv.ts';
import type { Delimiter } from './delimiter.ts';
import { readJsonArray } from './json-array.ts';
import { readJsonLines } from './json-lines.ts';
import type { RawRow, Source } from './source.ts';
import { UsageError } from '../config.ts';

export type OpenRows = {
  rows: AsyncIterable<RawRow>;
  /** Undefined if the rows are JSON documents. */
  header: readonly string[] | undefined;
  /** The field of each column in the header; undefined for one that is left out. */
  fields: readonly (string | undefined)[];
  delimiter: Delimiter;
  preset: string | undefined;
  notes: string[];
  /** Rows of the file that are not records of their own. */
  skipped(): number;
};

type Kind = { name: string; columns: readonly string[]; record: z.ZodObject };

export async function openRows(kind: Kind, source: Source, mapping: Mapping): Promise<OpenRows> {
  if (source.format !== 'csv') {
    if (mapping.map || mapping.restToMetadata)
      throw new UsageError('Only the columns of CSV files can be mapped: the fields of JSON have their names already.');
    const rows = source.format === 'json-array' ? readJsonArray(source) : readJsonLines(source);
    return { rows, header: undefined, fields: [], delimiter: ',', preset: undefined, notes: [], skipped: () => 0 };
  }
  const file = await readHeader(source);
  const plan = planColumns(file.header, file.delimiter, kind, mapping);
  const notes = [...plan.notes];
  if (source.encoding === 'windows-1252')
    notes.push('The file is not UTF-8 and was read as Windows-1252. Check names with accents.');
  const isDocument = plan.documentAt !== undefined;
  return {
    rows: readCsv(source, file, plan),
    header: isDocument ? undefined : file.header,
    fields: plan.fields,
    delimiter: file.delimiter,
    preset: plan.preset,
    notes,
    skipped: plan.skipped,
  };
}
