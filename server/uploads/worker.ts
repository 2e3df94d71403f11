/**
 * The process that reads, checks and imports an uploaded file. It has its own database connections, so that a slow row
 * delays no request.
 */
import { writeFile } from 'node:fs/promises';
import type { ImportChoices, UploadRow, UploadSummary } from '../entities/upload.ts';
import { UsageError } from '../config.ts';
import { openDatabase } from '../database/orm.ts';
import { Organization } from '../entities/organization.ts';
import { planColumns } from '../import/columns.ts';
import { proposeChoices } from '../import/guess.ts';
import { importFile, ImportBusy, kinds } from '../import/import-file.ts';
import type { ImportOptions } from '../import/import-file.ts';
import { inspectFile } from '../import/inspect.ts';
import type { Inspection } from '../import/inspect.ts';
import type { Entry } from '../import/kind.ts';
import type { Report } from '../import/report.ts';
import { uploadBounds, writeFresh } from './files.ts';
import { failed } from './process.ts';
import type { Job, JobOutcome, Message } from './process.ts';

/** What the page of an upload shows. */
const shown = { rows: 5, fields: 60, textLength: 100, errors: 10, noteLength: 1000, records: 500 };

async function run(job: Job, signal: AbortSignal): Promise<JobOutcome> {
  const inspection = (job.inspection as Inspection | null) ?? (await inspectFile(job.file, uploadBounds));
  const proposal = proposeChoices(inspection, job.kind, job.remembered ?? {});
  const choices: ImportChoices = job.choices ?? proposal.choices;
  const found = { inspection, mapping: choices };
  const plan = planColumns(inspection, kinds[job.kind], choices);
  const isClear = plan.faults.length + plan.questions.length === 0 && (job.choices !== null || proposal.isCertain);
  if (!isClear) return { ...found, state: 'mapping' };
  const database = await openDatabase(job.address, { poolSize: 2 });
  try {
    const organization = await database.orm.em.fork().findOneOrFail(Organization, { id: job.organizationId });
    const { kind, file } = job;
    const rejects = writeFresh(job.rejects);
    const onProgress: ImportOptions['onProgress'] = (progress) => send({ progress });
    const options = { database, organization, kind, file, inspection, choices, rejects, signal, onProgress };
    return { ...found, ...(job.task === 'check' ? await check(options) : await load(options, job)) };
  } finally {
    await database.orm.close();
  }
}

async function check(options: ImportOptions): Promise<JobOutcome> {
  const rows: UploadRow[] = [];
  const onRow = (entry: Entry) => void (rows.length < shown.rows && rows.push(shownRow(entry)));
  const report = await importFile({ ...options, dryRun: true, maximumRows: uploadBounds.rows, onRow });
  return { state: 'checked', rows, summary: summaryOf(report) };
}

async function load(
  options: ImportOptions,
  { id: uploadId, memberId, fileName, records: before }: Job,
): Promise<JobOutcome> {
  const records = { created: [] as string[], updated: [] as string[] };
  const onRow = ({ id = '', outcome }: Entry) => {
    if ((outcome === 'created' || outcome === 'updated') && records[outcome].length < shown.records)
      records[outcome].push(id);
  };
  const audit = { memberId, fileName };
  // Rows that are matched to records need no count: they find what is already stored.
  const resumed = options.choices?.match === 'none' ? { uploadId, stored: before.stored ?? 0 } : undefined;
  const report = await importFile({ ...options, audit, isWaiting: false, onRow, resumed });
  // What was read from the file is personal data.
  return { state: 'imported', rows: [], inspection: null, records, summary: summaryOf(report) };
}

/** The values of a row, or why it is rejected. */
function shownRow({ line, value, outcome }: Entry): UploadRow {
  if (!Array.isArray(outcome)) return { line, values: valuesOf(Object(value)).slice(0, shown.fields), errors: [] };
  const errors = outcome.map(({ field, message }) => (field === '' ? message : `${field} ${message}`));
  return { line, values: [], errors: errors.slice(0, shown.errors) };
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

const short = (text: string) =>
  text.length > shown.textLength ? `${text.slice(0, shown.textLength).toWellFormed()}…` : text;

function summaryOf({ notes, errors, ...counts }: Report): UploadSummary {
  return {
    ...counts,
    notes: notes.map((note) => note.slice(0, shown.noteLength)),
    errors: errors.slice(0, shown.errors).map(({ line, field, message }) => ({ line, field, message })),
  };
}

function send(message: Message): void {
  if (process.connected) process.send?.(message);
}

const last = (outcome: JobOutcome): Message => ({ outcome, memory: process.memoryUsage.rss() });

function failureOf(error: unknown, job: Job): Message {
  // Another import into the organization is running: the upload returns to its previous state.
  if (error instanceof ImportBusy)
    return last({ state: job.task === 'resume' ? 'stopped' : 'checked', failure: error.message });
  if (error instanceof UsageError) return last(failed(job, error.message));
  return { error: Object.fromEntries(errorProperties.map((name) => [name, Reflect.get(Object(error), name)])) };
}

/** An Error loses its own properties on the way to another process, but the log needs those of database errors. */
const errorProperties = [
  'name',
  'message',
  'stack',
  'code',
  'severity',
  'constraint',
  'table',
  'column',
  'routine',
] as const;

// If memory runs out, Linux ends this process rather than the service.
void writeFile('/proc/self/oom_score_adj', '1000').catch(() => undefined);

const controller = new AbortController();
const stop = () => controller.abort(new Error('The import was stopped.'));
process.on('message', (message: Job | 'stop') => {
  if (message === 'stop') return stop();
  void run(message, controller.signal)
    .then(last, (error: unknown) => failureOf(error, message))
    .then(send);
});
// There is no more work, or the service is gone.
process.on('disconnect', stop);
// A terminal and a service manager also send these to child processes, but the service decides when an import stops.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => undefined);
