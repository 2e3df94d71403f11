/** `export`: writes an organization's customers, items or proposals to a file. */
import { createWriteStream } from 'node:fs';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { nearest } from '../../contract/nearest.ts';
import { parseInstant } from '../../contract/parameters.ts';
import { UsageError } from '../config.ts';
import { exportFormats, exportKinds, exportRecords } from '../export/export-records.ts';
import type { ExportFormat, ExportKind } from '../export/export-records.ts';
import { organizationBySlug, readWords, required, withDatabase } from './command.ts';
import type { Command } from './command.ts';
import { warn } from './terminal.ts';

const help = `
Usage: npx proposal-api export customers|items|proposals [FILE] --organization SLUG [options]

Writes records as they are at one moment, to FILE or to standard output: CSV, or JSON Lines where FILE ends in .jsonl or
.ndjson. A name that ends in .gz is compressed. An import of the file changes nothing; into another organization it
brings the same records.

In CSV, cells that a spreadsheet would run as formulas begin with an apostrophe, which an import takes off again. CSV
has no room for the lines of proposals: use JSON Lines to keep them.

  --organization SLUG   the organization to export from
  --format csv|jsonl    the format, whatever the name of the file
  --updated-since TIME  only records changed at or after this time, such as 2026-03-01 or 2026-03-01T09:30:00Z
  --bom                 begin CSV with a byte order mark, by which Excel knows UTF-8
`;

const options = {
  organization: { type: 'string' },
  format: { type: 'string' },
  'updated-since': { type: 'string' },
  bom: { type: 'boolean' },
} as const;

export const exportCommand: Command = {
  help,
  async run(words) {
    const { values, positionals } = readWords(words, options, ['customers, items or proposals'], ['FILE']);
    const [word = '', file] = positionals;
    const kind = kindOf(word);
    const slug = required(values.organization, 'organization');
    const format = formatOf(values.format, file);
    const updatedSince = instantOf(values['updated-since']);
    let written = 0;
    await withDatabase(async (database) => {
      const { id: organizationId } = await organizationBySlug(database, slug);
      const pieces = exportRecords({
        database,
        organizationId,
        kind,
        format,
        updatedSince,
        byteOrderMark: values.bom,
        onProgress: (records) => (written = records),
      });
      const target = file === undefined || file === '-' ? process.stdout : createWriteStream(file);
      const packing = file?.toLowerCase().endsWith('.gz') ? createGzip() : new PassThrough();
      await pipeline(Readable.from(pieces), packing, target, { end: target !== process.stdout });
    });
    warn(`${written} ${kind} exported`);
    return 0;
  },
};

function kindOf(word: string): ExportKind {
  const kind = exportKinds.find((name) => name === word);
  if (kind) return kind;
  const suggestion = nearest(word, exportKinds);
  throw new UsageError(`${word} cannot be exported${suggestion ? `; did you mean ${suggestion}?` : ''}`);
}

function formatOf(option: string | undefined, file: string | undefined): ExportFormat {
  if (option === undefined) return /\.(?:jsonl|ndjson)(?:\.gz)?$/i.test(file ?? '') ? 'jsonl' : 'csv';
  const format = exportFormats.find((name) => name === option);
  if (!format) throw new UsageError(`--format must be one of ${exportFormats.join(', ')}`);
  return format;
}

function instantOf(option: string | undefined): string | undefined {
  if (option === undefined) return undefined;
  const instant = parseInstant(option.trim());
  if (instant === undefined)
    throw new UsageError('--updated-since must be a date or a time with its zone, such as 2026-03-01');
  return instant;
}
