/** `export`: writes an organization's customers, items or proposals to a file. */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { nearest } from '../../contract/nearest.ts';
import { parseInstant } from '../../contract/parameters.ts';
import { UsageError } from '../config.ts';
import { exportFormats, exportKinds, exportRecords } from '../export/export-records.ts';
import type { ExportFormat, ExportKind } from '../export/export-records.ts';
import { organizationBySlug, readWords, required, withDatabase } from './command.ts';
import type { Command } from './command.ts';

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
  summary: 'export customers, items or proposals to a file',
  help,
  async run(words) {
    const { values, positionals } = readWords(words, options, ['customers, items or proposals'], ['FILE']);
    const [word = '', file] = positionals;
    const kind = kindOf(word);
    const slug = required(values.organization, 'organization');
    const format = formatOf(values.format, file);
    const updatedSince = instantOf(values['updated-since']);
    const written = await withDatabase(async (database) => {
      const { id } = await organizationBySlug(database, slug);
      const output = openOutput(file);
      if (values.bom && format === 'csv') await output.write('\uFEFF');
      const count = await exportRecords({
        database,
        organizationId: id,
        kind,
        format,
        updatedSince,
        write: output.write,
      });
      await output.close();
      return count;
    });
    process.stderr.write(`${written} ${kind} exported\n`);
    return 0;
  },
};

function kindOf(word: string): ExportKind {
  const kind = exportKinds.find((name) => name === word);
  if (kind) return kind;
  const suggestion = nearest(word, exportKinds);
  throw new UsageError(`${word} cannot be exported${suggestion ? `; did you mean ${suggestion}?` : ''}`);
}

function formatOf(given: string | undefined, file: string | undefined): ExportFormat {
  if (given === undefined) return /\.(?:jsonl|ndjson)(?:\.gz)?$/i.test(file ?? '') ? 'jsonl' : 'csv';
  const format = exportFormats.find((name) => name === given);
  if (!format) throw new UsageError(`--format must be one of ${exportFormats.join(', ')}`);
  return format;
}

function instantOf(given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  const instant = parseInstant(given.trim());
  if (instant === undefined)
    throw new UsageError('--updated-since must be a date or a time with its zone, such as 2026-03-01');
  return instant;
}

function openOutput(file: string | undefined) {
  const target: Writable = file === undefined || file === '-' ? process.stdout : createWriteStream(file);
  const first = file?.toLowerCase().endsWith('.gz') ? createGzip() : undefined;
  first?.pipe(target);
  const stream: Writable = first ?? target;
  const failed = new Promise<never>((_, reject) => {
    target.once('error', reject);
  });
  // The awaiting code gets the rejection; without one it is not an unhandled error.
  failed.catch(() => undefined);
  return {
    async write(text: string): Promise<void> {
      if (!stream.write(text)) await Promise.race([once(stream, 'drain'), failed]);
    },
    async close(): Promise<void> {
      if (stream === process.stdout) return;
      stream.end();
      await Promise.race([finished(target), failed]);
    },
  };
}
