/** `export`: writes an organization's customers, items or proposals to a file. */
import { PassThrough, Readable } from 'node:stream';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { Argument, Option } from '@commander-js/extra-typings';
import { exportFormats, exportKinds, exportRecords } from '../export/export-records.ts';
import { atLeast } from '../records/sql.ts';
import { instant, organizationBySlug, organizationOption, withDatabase } from './command.ts';
import type { Declare } from './command.ts';
import { keepMemorySmall } from './memory.ts';
import { writeFile } from './output-file.ts';
import { warn } from './terminal.ts';

export const exportCommand: Declare = (command) =>
  command
    .description(
      `Writes a consistent snapshot to FILE or standard output, as CSV, or as JSON Lines if FILE ends in .jsonl or .ndjson. If
the name ends in .gz, the file is compressed. Importing the file again changes nothing; importing it into another
organization copies the records.

In CSV, cells that a spreadsheet would run as formulas begin with an apostrophe, which import removes. CSV cannot hold
the lines of proposals: use JSON Lines to keep them.`,
    )
    .addArgument(new Argument('<KIND>', 'what to export').choices(exportKinds))
    .argument('[FILE]', 'where to write; a dash, or nothing, for standard output')
    .addOption(organizationOption())
    .addOption(new Option('--format <FORMAT>', 'the format, regardless of the file name').choices(exportFormats))
    .option(
      '--updated-since <TIME>',
      'only records changed at or after this time, such as 2026-03-01 or 2026-03-01T09:30:00Z',
      instant,
    )
    .option('--bom', 'start the CSV with a byte order mark, so that Excel detects UTF-8')
    .action(async (kind, file, { organization, format, updatedSince, bom }) => {
      keepMemorySmall();
      let written = 0;
      await withDatabase(async (database) => {
        const pieces = exportRecords({
          database,
          organizationId: (await organizationBySlug(database, organization)).id,
          kind,
          format: format ?? (/\.(?:jsonl|ndjson)(?:\.gz)?$/i.test(file ?? '') ? 'jsonl' : 'csv'),
          conditions: updatedSince === undefined ? [] : [atLeast('updatedAt', updatedSince)],
          byteOrderMark: bom,
          onProgress: (records) => (written = records),
        });
        const packing = file?.toLowerCase().endsWith('.gz') ? createGzip() : new PassThrough();
        const write = (output: Writable, end = true) => pipeline(Readable.from(pieces), packing, output, { end });
        await (file === undefined || file === '-' ? write(process.stdout, false) : writeFile(file, write));
      });
      warn(`${written} ${kind} exported`);
    });
