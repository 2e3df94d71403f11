/** `export`: writes an organization's customers, items or proposals to a file. */
import { PassThrough, Readable } from 'node:stream';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { Argument, Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import { exportFormats, exportKinds, exportRecords } from '../export/export-records.ts';
import type { ExportKind } from '../export/export-records.ts';
import { atLeast } from '../records/sql.ts';
import { inOrganization } from './acting.ts';
import { filePath, instant, organizationOption } from './command.ts';
import type { Declare } from './command.ts';
import { keepMemorySmall } from './v8-flags.ts';
import { writeFile } from './output-file.ts';
import { withProgress } from './progress-bar.ts';
import { warn } from './terminal.ts';

const description = `Writes a consistent snapshot to FILE or standard output, as CSV, or as JSON Lines if FILE ends in .jsonl or .ndjson. If
the name ends in .gz, the file is compressed. Importing the file again changes nothing; importing it into another
organization copies the records that have an externalId.

In CSV, cells that a spreadsheet would evaluate as formulas begin with an apostrophe, which import removes. CSV cannot hold
the lines of proposals: use JSON Lines to keep them.`;

export const declare: Declare = (command) => withOptions(command).description(description).action(runExport);

const withOptions = (command: Command) =>
  command
    .addArgument(new Argument('<KIND>', 'what to export').choices(exportKinds))
    .argument('[FILE]', 'where to write; standard output if it is - or left out', filePath)
    .addOption(organizationOption())
    .addOption(new Option('--format <FORMAT>', 'the format, regardless of the file name').choices(exportFormats))
    .option(
      '--updated-since <TIME>',
      'only records changed at or after this time, such as 2026-03-01 or 2026-03-01T09:30:00Z',
      instant,
    )
    .option('--bom', 'start the CSV with a byte order mark, so that Excel detects UTF-8');

type Options = ReturnType<ReturnType<typeof withOptions>['opts']>;

async function runExport(kind: ExportKind, file: string | undefined, options: Options): Promise<void> {
  const { organization, format, updatedSince, bom } = options;
  keepMemorySmall();
  let rowsRead = 0;
  const isPrinted = file === undefined || file === '-';
  await inOrganization(organization, async ({ organizationId }, database) => {
    await withProgress(({ show }) => {
      const pieces = exportRecords({
        database,
        organizationId,
        kind,
        format: format ?? (/\.(?:jsonl|ndjson)(?:\.gz)?$/i.test(file ?? '') ? 'jsonl' : 'csv'),
        conditions: updatedSince === undefined ? [] : [atLeast('updatedAt', updatedSince)],
        byteOrderMark: bom,
        onProgress(records) {
          rowsRead = records;
          // On standard output, the records themselves show the progress.
          if (!isPrinted) show({ rowsRead });
        },
      });
      const packing = file?.toLowerCase().endsWith('.gz') ? createGzip() : new PassThrough();
      const write = (output: Writable, end = true) => pipeline(Readable.from(pieces), packing, output, { end });
      return isPrinted ? write(process.stdout, false) : writeFile(file, write);
    });
  });
  warn(`${rowsRead} ${kind} exported`);
}
