/** The page for files in and out, and the forms of an import. */
import { pipeline } from 'node:stream/promises';
import express from 'express';
import type { Router } from 'express';
import { importKinds, isOpen } from '../../../entities/upload.ts';
import type { Upload } from '../../../entities/upload.ts';
import { fieldOf, Problem } from '../../../problems/problem.ts';
import { byteOrderMark, csvLines } from '../../../text/spreadsheet.ts';
import { uploadBounds } from '../../../uploads/files.ts';
import { tooLarge } from '../../../uploads/runner.ts';
import type { SettingsContext } from '../context.ts';
import { pageNotFound } from '../error-page.ts';
import { field, uuidForm } from '../fields.ts';
import { sendPage } from '../page.ts';
import type { Change, Visit } from '../session-guard.ts';
import { orProblem, requireAdminVisit } from '../visit.ts';
import { endedPage } from './ended-page.ts';
import { importPage } from './import-page.ts';
import type { ImportView } from './import-page.ts';
import { namesOf } from './imported-records.ts';
import { bytesOf, readFormWithFile, receivedFile } from './multipart.ts';

const path = '/settings/imports';
/** What a form may weigh beside its file. */
const formBytes = 100_000;

/** Forms with a field for each column of a file, which are larger than others. */
export const readColumnsForm = express.urlencoded({ extended: false, limit: '256kb', parameterLimit: 1100 });

// Loaded when someone opens the page: most processes never import.
const importer = () => import('./mapping.ts');

export function importRoutes(router: Router, { guard }: SettingsContext): void {
  router.get(
    '/imports',
    guard.page((visit) => show(visit)),
  );
  router.get('/import-templates/:name', guard.page(sendTemplate));
  router.post('/imports', readFormWithFile(uploadBounds.bytes), guard.change('records_imported', upload));
  router.get('/imports/:id/columns', guard.page(showColumns));
  router.post('/imports/:id/columns', guard.change('records_imported', chooseColumns));
  for (const deed of ['start', 'discard'] as const)
    router.post(
      `/imports/:id/${deed}`,
      guard.change('records_imported', async (change) => {
        await change.context.uploads[deed](whoOf(change), uploadIdIn(change));
        change.response.redirect(303, path);
      }),
    );
  router.get('/imports/:id', guard.page(showEnded));
  router.get('/imports/:id/rejected', guard.page(sendRejects));
}

const whoOf = ({ signed }: Visit) => ({ organization: signed.organization, actor: signed.member });

async function show(visit: Visit, view: Partial<ImportView> = {}, status = 200): Promise<void> {
  const { response, signed, csrfToken, context } = visit;
  const { member, organization } = signed;
  const isAllowed = member.role === 'admin' && organization.plan === 'team';
  const found = isAllowed ? await context.uploads.find(organization) : undefined;
  const ended = isAllowed ? await context.uploads.ended(organization) : [];
  const { mappingForm, importFields } = await importer();
  const mapping = found?.upload.state === 'mapping' ? mappingForm(found.upload, found.upload.mapping) : undefined;
  const shown = { ...found, ended, mapping, fields: importFields(), ...view };
  sendPage(response, importPage({ signed, csrfToken, ...shown }), status);
}

async function sendTemplate({ request, response }: Visit): Promise<void> {
  const { importFields } = await importer();
  const kind = (['customers', 'items'] as const).find((name) => `${name}.csv` === request.params.name);
  if (!kind) throw pageNotFound();
  response.attachment(`${kind}.csv`).type('csv');
  response.send(byteOrderMark + csvLines([importFields()[kind].map(({ name }) => name)]));
}

async function upload(change: Change): Promise<void> {
  const kind = field(change.request.body, 'kind');
  const problem = await orProblem(receive(change, kind));
  if (!problem) return change.response.redirect(303, path);
  if (fieldOf(problem) === undefined) throw problem;
  await show(change, { typed: { kind, problem } }, problem.status);
}

async function receive(change: Change, typed: string): Promise<undefined> {
  const { request, context } = change;
  const who = whoOf(change);
  await context.uploads.admit(who);
  const kind = importKinds.find((name) => name === typed);
  const file = receivedFile(request);
  const size = Number(request.headers['content-length'] ?? 0);
  if (!kind) throw new Problem('invalid', { sentence: 'Choose what the file contains.', field: 'kind' });
  if (!file) throw new Problem('invalid', { sentence: 'Choose a file.', field: 'file' });
  if (size > uploadBounds.bytes + formBytes) throw new Problem('too_large', { sentence: tooLarge, field: 'file' });
  const wanted = { kind, fileName: file.name.slice(-200), size };
  const { stream, isTooLarge } = file;
  const received = { bytes: bytesOf(request, file), isTooLarge, stop: () => void stream.destroy() };
  await context.uploads.receive(who, wanted, received);
}

async function showColumns(visit: Visit): Promise<void> {
  const found = await openUpload(visit);
  const { mappingForm } = await importer();
  await show(visit, { upload: found, mapping: mappingForm(found, found.mapping) });
}

async function chooseColumns(change: Change): Promise<void> {
  const found = await openUpload(change);
  const { choicesIn, mappingForm } = await importer();
  const choices = choicesIn(found, change.request.body);
  const mapping = mappingForm(found, choices);
  if (mapping.faults.length > 0 || mapping.isUnanswered)
    return show(change, { upload: { ...found, mapping: choices }, mapping }, 422);
  await change.context.uploads.choose(whoOf(change), found.id, choices);
  change.response.redirect(303, path);
}

/** The upload of a page that only admins see. */
async function findUpload(visit: Visit) {
  requireAdminVisit(visit, 'import and export');
  const found = await visit.context.uploads.find(visit.signed.organization, uploadIdIn(visit));
  if (!found) throw pageNotFound();
  return found;
}

/** An upload whose columns can still be chosen. */
async function openUpload(visit: Visit): Promise<Upload> {
  const found = await findUpload(visit);
  if (!isOpen(found.upload)) throw pageNotFound();
  return found.upload;
}

async function showEnded(visit: Visit): Promise<void> {
  const { visitor, response, signed } = visit;
  const found = await findUpload(visit);
  if (found.upload.state !== 'imported') return response.redirect(303, path);
  sendPage(response, endedPage({ signed, ...found, ...(await namesOf(visitor.em, found.upload)) }));
}

async function sendRejects(visit: Visit): Promise<void> {
  const { response, context } = visit;
  const found = await findUpload(visit);
  if (!found.hasRejects) throw pageNotFound();
  response.attachment('rejected-rows.csv').set('Cache-Control', 'no-store');
  await pipeline((await context.uploads.readRejects(found.upload)).iterator(), response);
}

function uploadIdIn({ request }: Visit): string {
  const { id = '' } = request.params;
  if (!uuidForm.test(id)) throw pageNotFound();
  return id;
}
