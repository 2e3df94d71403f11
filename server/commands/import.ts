/** `import`: imports customers, items or proposals into an organization from a file. */
import { importKinds, matches } from '../entities/upload.ts';
import type { ImportChoices, ImportKind } from '../entities/upload.ts';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Writable } from 'node:stream';
import { Argument, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import { z } from 'zod';
import { UsageError } from '../config.ts';
import { importFile } from '../import/import-file.ts';
import type { ImportOptions } from '../import/import-file.ts';
import { inspectFile } from '../import/inspect.ts';
import { presetNames } from '../import/presets/presets.ts';
import { printRowError, printSummary, reportedErrors } from '../import/report.ts';
import type { Report } from '../import/report.ts';
import { messageOf } from '../problems/message-of.ts';
import { keepMemorySmall } from './v8-flags.ts';
import { filePath, organizationBySlug, organizationOption, print, withDatabase } from './command.ts';
import type { Declare } from './command.ts';
import { writeFile } from './output-file.ts';
import { withProgress } from './progress-bar.ts';
import { withCopy } from './temporary-folder.ts';
import { ExitStatus, warn } from './terminal.ts';

const description = `Imports records from a file: CSV (separated by commas, semicolons or tabs), JSON Lines or one JSON array, optionally
compressed with gzip, or the first visible sheet of an Excel workbook (.xlsx). Every row needs an externalId, the record's
id in the system it comes from, unless --match says otherwise. A record that already exists is updated: fields missing
from the row keep their values, and unchanged records are not written, so it is safe to run again.

The fields are those of the API, with status and createdAt. In JSON, null clears a field. In CSV, the first line names the
fields; a dot marks a field inside an object, semicolons separate tags, and an empty cell keeps the stored value.

A proposal refers to its customer and items by externalId. Its lines replace all existing lines. Totals are computed; any
totals you give must match. Import customers and items before the proposals that refer to them.`;

const notes = `
A CSV file of customers, and a JSON Lines file of proposals (each in one line):

  externalId,companyName,email,address.city,address.country,tags,metadata.segment
  C-1,Alfreds Futterkiste,maria@alfreds.example,Berlin,DE,wholesale;net-30,retail

  {"externalId":"P-1","number":"P-1","title":"Spring","status":"sent","sentAt":"2026-03-01T09:30:00Z",
   "customerExternalId":"C-1","lineItems":[{"itemExternalId":"I-1","type":"product","name":"Chai","quantity":"2",
   "unitPrice":"18.00"}]}

These exports are recognized by their header:
${presetNames.map((name) => `  ${name}`).join('\n')}

A row that is not valid is skipped and reported on standard error as "line N: field: message".
Exit status: 0 all rows were imported, 2 some rows were rejected, 1 the import could not start or finish.
`;

export const declare: Declare = (command) =>
  withOptions(command).description(description).addHelpText('after', notes).action(runImport);

const withOptions = (command: Command) =>
  command
    .addArgument(new Argument('<KIND>', 'what to import').choices(importKinds))
    .argument('<FILE>', 'the file; - for standard input', filePath)
    .addOption(organizationOption())
    .addOption(
      new Option(
        '--map <COLUMN=FIELD>',
        'the field that a column is imported into; repeat it for further columns, leave FIELD empty to skip a column',
      )
        .argParser((pair, pairs: string[]) => [...pairs, pair])
        .default([], 'none'),
    )
    .option('--map-file <FILE>', 'the same as a JSON object: { "Company Name": "companyName" }', filePath)
    .option('--rest-to-metadata', "store unmapped columns in the record's metadata")
    .addOption(
      new Option(
        '--match <FIELD>',
        'match rows by email (customers) or sku (items) instead of externalId; none creates a record for every row',
      ).choices(matches),
    )
    .addOption(
      new Option('--decimal-point <POINT>', 'needed if the file does not show whether 1.200 is 1200 or 1.2').choices([
        'comma',
        'dot',
      ] as const),
    )
    .addOption(
      new Option('--date-order <ORDER>', 'needed if the file does not show whether 03/04/2026 is in March').choices([
        'day-month',
        'month-day',
      ] as const),
    )
    .option(
      '--dry-run',
      'check and compare every row, but write nothing; print the summary that the import would print',
    )
    .option('--rejects <FILE>', 'write rejected rows to a CSV file that you can correct and import', rejectsPath)
    .option('--json', `print the result as JSON: counts, notes, and the first ${reportedErrors} errors`);

type Options = ReturnType<ReturnType<typeof withOptions>['opts']>;

async function runImport(kind: ImportKind, file: string, { organization, json, ...options }: Options): Promise<void> {
  const { dryRun, rejects, map: pairs, mapFile, decimalPoint, restToMetadata, match, dateOrder } = options;
  const map = await mappingOf(pairs, mapFile);
  const point = decimalPoint && (decimalPoint === 'comma' ? ',' : '.');
  const choices: ImportChoices = { map, restToMetadata, match, dateOrder, decimalPoint: point };
  const settings = { kind, choices, dryRun, rejectsFile: rejects };
  const read = (path: string, fileName: string) => run(organization, { ...settings, file: path, fileName });
  const report = await (file === '-'
    ? withCopy(process.stdin, (copy) => read(copy, 'standard input'))
    : read(file, basename(file)));
  const summary = `${dryRun ? 'Dry run, nothing was written. ' : ''}${printSummary(report)}`;
  print(json, report, ...notesOf(report, choices), summary);
  if (report.rejected > 0) throw new ExitStatus(2);
}

function notesOf({ notes: ofFile }: Report, { restToMetadata }: ImportChoices): string[] {
  const isLeft = ofFile.some((note) => note.startsWith('Columns not imported'));
  return isLeft && !restToMetadata ? [...ofFile, '--rest-to-metadata keeps them in metadata.'] : ofFile;
}

async function mappingOf(pairs: readonly string[], file: string | undefined) {
  const map = new Map(file === undefined ? [] : Object.entries(await readMapping(file)));
  for (const pair of pairs) {
    const at = pair.lastIndexOf('=');
    if (at < 1) throw new UsageError(`--map ${pair}: write it as "COLUMN=FIELD"`);
    map.set(pair.slice(0, at).trim(), pair.slice(at + 1).trim());
  }
  return map.size > 0 ? Object.fromEntries(map) : undefined;
}

function rejectsPath(value: string): string {
  if (value === '-') throw new InvalidArgumentError('It must be a file: standard output holds the summary.');
  return filePath(value);
}

async function readMapping(file: string): Promise<Record<string, string>> {
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw new UsageError(`--map-file ${file} cannot be read: ${messageOf(cause)}`, { cause });
  });
  try {
    // TextDecoder drops a byte order mark.
    return z.record(z.string(), z.string()).parse(JSON.parse(new TextDecoder().decode(bytes)));
  } catch (cause) {
    throw new UsageError(`--map-file ${file} must contain a JSON object of columns to fields`, { cause });
  }
}

type Settings = Pick<ImportOptions, 'kind' | 'file' | 'dryRun'> & {
  choices: ImportChoices;
  fileName: string;
  rejectsFile: string | undefined;
};

async function run(slug: string, { fileName, rejectsFile, ...settings }: Settings): Promise<Report> {
  keepMemorySmall();
  // Before the database is opened, which can take seconds.
  const inspection = await inspectFile(settings.file);
  return withDatabase(async (database) => {
    const organization = await organizationBySlug(database, slug);
    let rowsRead = 0;
    return withProgress((bar) => {
      const importTo = (rejects?: Writable) =>
        importFile({
          ...settings,
          inspection,
          database,
          organization,
          rejects,
          audit: { memberId: null, fileName },
          onProgress(progress) {
            ({ rowsRead } = progress);
            bar.show(progress);
          },
          onRow: ({ line, outcome }) => {
            if (!Array.isArray(outcome)) return;
            bar.clear();
            warn(...outcome.map((rejection) => printRowError({ line, ...rejection })));
          },
        });
      return rejectsFile === undefined ? importTo() : writeFile(rejectsFile, importTo);
    }).catch((error: unknown) => {
      if (rowsRead > 0 && !settings.dryRun) warn(interruption(rowsRead, settings.choices));
      throw error;
    });
  });
}

/** The chunk after those rows may have been stored too, if only the response to its commit was lost. */
function interruption(rowsRead: number, { match }: ImportChoices): string {
  const again =
    match === 'none'
      ? 'a row that you import again creates another record'
      : 'run the command again, and they will not be imported twice';
  return `The import stopped after at least ${rowsRead} rows. Rows already imported are kept; ${again}.`;
}
