/** `import`: brings an organization's customers, items and proposals in from a file. */
import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { z } from 'zod';
import { nearest } from '../../contract/nearest.ts';
import { UsageError } from '../config.ts';
import { importFile, importKinds } from '../import/import-file.ts';
import type { ImportKind, ImportOptions } from '../import/import-file.ts';
import { presetNames } from '../import/presets/presets.ts';
import { progressBar } from '../import/progress-bar.ts';
import { printRowError, printSummary } from '../import/report.ts';
import type { Report } from '../import/report.ts';
import { inspectFile, withSpooled } from '../import/source.ts';
import { organizationBySlug, readWords, required, withDatabase } from './command.ts';
import type { Command } from './command.ts';
import { say, sayJson, warn } from './terminal.ts';

const help = `
Usage: npx proposal-api import customers|items|proposals FILE --organization SLUG [options]

Imports records from a file, or from standard input where FILE is -: CSV (separated by commas, semicolons or tabs), JSON
Lines or one JSON array, each also compressed with gzip. Every row needs an externalId, the record's id in the system it
comes from. A record that already exists is updated: what the row leaves out stays, and a record that would not change is
not written. So it is safe to run again.

The fields are those of the API, with status and createdAt. In JSON, null clears a field. In CSV the first line names the
fields; a dot stands for a field inside an object, tags are separated by semicolons, and an empty cell keeps what is
stored:

  externalId,companyName,email,address.city,address.country,tags,metadata.segment
  C-1,Alfreds Futterkiste,maria@alfreds.example,Berlin,DE,wholesale;net-30,retail

A proposal names its customer and items by their externalIds; the lines that are given replace the stored ones as a
whole. Totals are computed; where they are given, they must agree:

  {"externalId":"P-1","number":"P-1","title":"Spring","status":"sent","sentAt":"2026-03-01T09:30:00Z",
   "customerExternalId":"C-1","lineItems":[{"itemExternalId":"I-1","type":"product","name":"Chai","quantity":"2",
   "unitPrice":"18.00"}]}        (in one line)

Import customers and items before the proposals that name them. These exports are recognized by their header:
${presetNames.map((name) => `  ${name}`).join('\n')}

  --organization SLUG    the organization to import into
  --map "COLUMN=FIELD"   what a column of a CSV file means; repeat it for further columns, leave FIELD empty to skip one
  --map-file FILE        the same as a JSON object: { "Company Name": "companyName" }
  --rest-to-metadata     keep columns that are no field in the record's metadata
  --dry-run              check and compare every row, write nothing, print the summary that the import would print
  --rejects FILE         write rejected rows to a CSV file, to be corrected and imported by itself
  --json                 print the result as JSON: counts, notes, and the first 1000 errors

A row that is not valid is skipped and reported on standard error as "line N: field: message".
Exit status: 0 all rows were imported, 2 some rows were rejected, 1 the import did not start or could not finish.
`;

const options = {
  organization: { type: 'string' },
  map: { type: 'string', multiple: true },
  'map-file': { type: 'string' },
  'rest-to-metadata': { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  rejects: { type: 'string' },
  json: { type: 'boolean' },
} as const;

export const importCommand: Command = {
  help,
  async run(words) {
    const { values, positionals } = readWords(words, options, ['customers, items or proposals', 'FILE']);
    const [word = '', file = ''] = positionals;
    const kind = kindOf(word);
    const slug = required(values.organization, 'organization');
    const map = await mappingOf(values.map ?? [], values['map-file']);
    const settings = {
      kind,
      mapping: { ...(map && { map }), restToMetadata: values['rest-to-metadata'] },
      dryRun: values['dry-run'],
      rejectsFile: values.rejects,
    };
    const report =
      file === '-'
        ? await withSpooled(process.stdin, (spooled) =>
            run(slug, { ...settings, file: spooled, fileName: 'standard input' }),
          )
        : await run(slug, { ...settings, file, fileName: basename(file) });
    if (values.json) sayJson(report);
    else say(...linesOf(report, values['dry-run'] === true));
    return report.rejected > 0 ? 2 : 0;
  },
};

const linesOf = (report: Report, isDryRun: boolean): string[] => [
  ...report.notes,
  `${isDryRun ? 'Dry run, nothing was written. ' : ''}${printSummary(report)}`,
];

function kindOf(word: string): ImportKind {
  const kind = importKinds.find((name) => name === word);
  if (kind) return kind;
  const suggestion = nearest(word, importKinds);
  throw new UsageError(`${word} cannot be imported${suggestion ? `; did you mean ${suggestion}?` : ''}`);
}

async function mappingOf(
  pairs: readonly string[],
  file: string | undefined,
): Promise<Record<string, string> | undefined> {
  const map = file === undefined ? {} : await readMapping(file);
  for (const pair of pairs) {
    const at = pair.lastIndexOf('=');
    if (at < 1) throw new UsageError(`--map ${pair}: write it as "COLUMN=FIELD"`);
    map[pair.slice(0, at).trim()] = pair.slice(at + 1).trim();
  }
  return Object.keys(map).length > 0 ? map : undefined;
}

async function readMapping(file: string): Promise<Record<string, string>> {
  try {
    return z.record(z.string(), z.string()).parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (cause) {
    throw new UsageError(`--map-file ${file} must contain a JSON object of columns to fields`, { cause });
  }
}

type Settings = Pick<ImportOptions, 'kind' | 'file' | 'mapping' | 'dryRun'> & {
  fileName: string;
  rejectsFile: string | undefined;
};

async function run(slug: string, { fileName, rejectsFile, ...settings }: Settings): Promise<Report> {
  // Most objects live as long as their chunk. By default, V8 lets 100 MB and more of them pile up before it collects them.
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=60');
  // Before the database is opened, which can take seconds.
  await inspectFile(settings.file);
  return withDatabase(async (database) => {
    const organization = await organizationBySlug(database, slug);
    const bar = progressBar(process.stderr);
    try {
      return await importFile({
        ...settings,
        database,
        organization,
        rejects: rejectsFile === undefined ? undefined : createWriteStream(rejectsFile),
        audit: { memberId: null, fileName },
        onProgress: bar.show,
        onErrors: (errors) => {
          bar.clear();
          warn(...errors.map(printRowError));
        },
      });
    } finally {
      bar.clear();
    }
  });
}
