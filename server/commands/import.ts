/** `import`: brings an organization's customers, items and proposals in from a file. */
import { nearest } from '../../contract/nearest.ts';
import { UsageError } from '../config.ts';
import { importFile, importKinds, inspectImport } from '../import/import-file.ts';
import type { ImportKind } from '../import/import-file.ts';
import { progressBar } from '../import/progress-bar.ts';
import { printRowError, printSummary } from '../import/report.ts';
import type { Report } from '../import/report.ts';
import type { Database } from '../database/orm.ts';
import { organizationBySlug, printJson, readWords, required, withDatabase } from './command.ts';
import type { Command } from './command.ts';

const help = `
Usage: node server/main.ts import customers|items|proposals FILE --organization SLUG [--json]

Brings records in from a file: customers and items from CSV (.csv) or JSON Lines (.jsonl, .ndjson), proposals with their
lines from JSON Lines. Every row needs an externalId, the record's id where it comes from. A record that is there
already is updated: what the row leaves out stays, and what would not change is not touched. So it is safe to run again.

The fields are those of the API, with status and createdAt. In JSON Lines null clears a field. In CSV the first line
names the fields; a dot stands for a field inside an object, tags are separated by semicolons, and an empty cell keeps
what is stored:

  externalId,companyName,email,address.city,address.country,tags,metadata.segment
  C-1,Alfreds Futterkiste,maria@alfreds.example,Berlin,DE,wholesale;net-30,retail

A proposal names its customer and items by their externalIds; given lines replace the stored ones as a whole. Totals
are computed, not given:

  {"externalId":"P-1","number":"P-1","title":"Spring","status":"sent","sentAt":"2026-03-01T09:30:00Z",
   "customerExternalId":"C-1","lineItems":[{"itemExternalId":"I-1","type":"product","name":"Chai","quantity":"2",
   "unitPrice":"18.00"}]}        (in one line)

Import customers and items before the proposals that name them.

  --organization SLUG  whose records they are
  --json               print the result as JSON: counts, and the first 1000 errors

A row that is not valid is skipped and reported on standard error as "line N: field: message".
Exit status: 0 every row is in, 2 some rows were skipped, 1 the import did not start or could not go on.
`;

export const importCommand: Command = {
  summary: 'import customers, items or proposals from a file',
  help,
  async run(words) {
    const { values, positionals } = readWords(words, { organization: { type: 'string' }, json: { type: 'boolean' } }, [
      'customers, items or proposals',
      'FILE',
    ]);
    const [word = '', file = ''] = positionals;
    const kind = kindOf(word);
    const slug = required(values.organization, 'organization');
    // Before the database is opened, which can take seconds.
    await inspectImport(kind, file);
    const report = await withDatabase((database) => importWithProgress(database, slug, kind, file));
    if (values.json) printJson(report);
    else process.stdout.write(`${printSummary(report)}\n`);
    return report.refused > 0 ? 2 : 0;
  },
};

function kindOf(word: string): ImportKind {
  const kind = importKinds.find((name) => name === word);
  if (kind) return kind;
  const suggestion = nearest(word, importKinds);
  throw new UsageError(`${word} cannot be imported${suggestion ? `; did you mean ${suggestion}?` : ''}`);
}

async function importWithProgress(database: Database, slug: string, kind: ImportKind, file: string): Promise<Report> {
  const organization = await organizationBySlug(database, slug);
  const bar = progressBar(process.stderr);
  try {
    return await importFile({
      database,
      organization,
      kind,
      file,
      onProgress: bar.show,
      onErrors: (errors) => {
        bar.clear();
        process.stderr.write(errors.map((error) => `${printRowError(error)}\n`).join(''));
      },
    });
  } finally {
    bar.clear();
  }
}
