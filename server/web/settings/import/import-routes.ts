/** The import and export page, and the forms of an import. */
import express from 'express';
import { importKinds, isOpen } from '../../../entities/upload.ts';
import type { Upload } from '../../../entities/upload.ts';
import { fieldOf, Problem } from '../../../problems/problem.ts';
import type { SettingsProblem } from '../../../problems/problem.ts';
import { printable } from '../../../problems/safe-text.ts';
import { byteOrderMark, csvLines } from '../../../text/spreadsheet.ts';
import { uploadBounds } from '../../../uploads/files.ts';
import { tooLarge } from '../../../uploads/runner.ts';
import { importGone } from '../../../uploads/uploads.ts';
import { sendPieces } from '../download.ts';
import { field, uuidPattern } from '../fields.ts';
import type { Rejected } from '../fields.ts';
import { pageNotFound, rejectedPage } from '../page.ts';
import type { Page } from '../page.ts';
import type { SessionGuard } from '../session-guard.ts';
import { requireAdminVisit, sentenceFor } from '../visit.ts';
import type { Change, Visit } from '../visit.ts';
import { endedPage, importPage } from './import-page.ts';
import type { ImportView } from './import-page.ts';
import { bytesOf, receivedFile } from './multipart.ts';

const path = '/settings/imports';
/** The maximum size of a form without its file, in bytes. */
const formBytes = 100_000;

/** Forms with a field for each column of a file, which are larger than others. */
export const readColumnsForm = express.urlencoded({ extended: false, limit: '256kb', parameterLimit: 1100 });

// Loaded when someone first opens the page: most processes never import.
const importer = () => import('./mapping.ts');

/** Without it, the outcome of an earlier import would look like that of the canceled one. */
const sentences = { discarded: 'The file was discarded. Rows that had already been imported are kept.' };

export function importRoutes(guard: SessionGuard): void {
  guard.page('/import-templates/:name', sendTemplate);
  const form = {
    action: 'records_imported' as const,
    again: (visit: Visit, rejected?: Rejected) => showImports(visit, { rejected }),
    // The other codes: sent from a page that is out of date.
    isSolvable: (problem: SettingsProblem) =>
      ['repeated', 'unknown'].includes(problem.code) || fieldOf(problem) !== undefined,
  };
  guard.form('/imports', { ...form, show: form.again, submit: receive });
  guard.form('/imports/:id/columns', { ...form, show: showColumns, submit: chooseColumns });
  for (const step of ['start', 'discard'] as const)
    guard.form(`/imports/:id/${step}`, {
      ...form,
      submit: async (change) => {
        await change.context.uploads[step](whoOf(change), uploadIdIn(change), field(change.request.body, 'checkedAt'));
        return step === 'discard' ? `${path}?done=discarded` : path;
      },
    });
  guard.page('/imports/:id', showEnded);
  guard.page('/imports/:id/rejected', sendRejects);
}

const whoOf = ({ organization, member }: Visit) => ({ organization, actor: member });

/** The current page, with the rejected form, if any. */
export async function showImports(visit: Visit, view: Partial<ImportView>): Promise<Page> {
  const { member, organization, context } = visit;
  const isAllowed = member.role === 'admin' && organization.plan === 'team';
  const found = isAllowed ? await context.uploads.find(organization) : undefined;
  const ended = isAllowed ? await context.uploads.ended(organization) : [];
  const { mappingSection, importTables } = await importer();
  const isShown = found?.upload.state === 'mapping' && view.mapping === undefined;
  const mapping = isShown ? mappingSection(visit, found.upload) : undefined;
  const done = sentenceFor(sentences, field(visit.request.query, 'done'));
  return importPage(visit, { ...found, ended, mapping, tables: importTables(), done, ...view });
}

async function sendTemplate({ request, response }: Visit): Promise<undefined> {
  const { importTables } = await importer();
  const table = importTables().find(({ name }) => `${name}.csv` === request.params.name);
  if (!table) throw pageNotFound();
  response.attachment(`${table.name}.csv`).type('csv');
  response.send(byteOrderMark + csvLines([table.fields.map(({ name }) => name)]));
}

async function receive(change: Change): Promise<string> {
  const { request, context } = change;
  const who = whoOf(change);
  await context.uploads.requireAdmin(who);
  const kind = importKinds.find((name) => name === field(request.body, 'kind'));
  const file = receivedFile(request);
  const size = Number(request.headers['content-length'] ?? 0);
  if (!kind) throw new Problem('invalid', { sentence: 'Choose what the file contains.', field: 'kind' });
  if (!file) throw new Problem('invalid', { sentence: 'Choose a file.', field: 'file' });
  if (size > uploadBounds.bytes + formBytes) throw new Problem('too_large', { sentence: tooLarge, field: 'file' });
  const wanted = { kind, fileName: printable(file.name.slice(-200)), size };
  const { stream, isTooLarge } = file;
  const received = { bytes: bytesOf(request, file), isTooLarge, stop: () => void stream.destroy() };
  await context.uploads.receive(who, wanted, received);
  return path;
}

async function showColumns(visit: Visit): Promise<Page | string> {
  const upload = await openUpload(visit);
  if (!upload) return path;
  const { mappingSection } = await importer();
  return showImports(visit, { upload, mapping: mappingSection(visit, upload) });
}

async function chooseColumns(change: Change): Promise<Page | string> {
  const found = await openUpload(change);
  if (!found) throw notChosen();
  const { choicesIn, planOf, mappingSection } = await importer();
  const choices = choicesIn(found, change.request.body);
  const upload = { ...found, mapping: choices };
  const { faults, questions } = planOf(upload);
  if (faults.length > 0 || questions.length > 0)
    return rejectedPage(await showImports(change, { upload, mapping: mappingSection(change, upload) }), 422);
  await change.context.uploads.choose(whoOf(change), found.id, choices);
  return path;
}

const notChosen = () =>
  new Problem('repeated', {
    sentence: 'A check or an import of this file was started after you opened the page, so your choices were not used.',
  });

/** The upload in the path. Only admins see these pages. */
async function findUpload(visit: Visit) {
  requireAdminVisit(visit, 'import and export');
  const found = await visit.context.uploads.find(visit.organization, uploadIdIn(visit));
  if (!found) throw importGone();
  return found;
}

/** The upload in the path, while its columns can be chosen. */
async function openUpload(visit: Visit): Promise<Upload | undefined> {
  const { upload } = await findUpload(visit);
  return isOpen(upload) ? upload : undefined;
}

async function showEnded(visit: Visit): Promise<Page | string> {
  const found = await findUpload(visit);
  // On the Free plan, the page of all imports says that this needs Team.
  if (found.upload.state !== 'imported' || visit.organization.plan !== 'team') return path;
  return endedPage(visit, found.upload, found.hasRejects);
}

async function sendRejects(visit: Visit): Promise<undefined> {
  const { response, context } = visit;
  const found = await findUpload(visit);
  if (!found.hasRejects) throw pageNotFound();
  response.attachment('rejected-rows.csv').set('Cache-Control', 'no-store');
  await sendPieces(response, (await context.uploads.readRejects(found.upload)).iterator());
}

function uploadIdIn({ request }: Visit): string {
  const { id = '' } = request.params;
  if (!uuidPattern.test(id)) throw pageNotFound();
  return id;
}
