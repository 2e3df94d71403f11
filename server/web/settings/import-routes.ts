/** The page for files in and out, and the forms of an import. */
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { Router } from 'express';
import { uploadKinds } from '../../entities/upload.ts';
import { uploadBounds } from '../../import/uploads/files.ts';
import { tooLarge } from '../../import/uploads/runner.ts';
import { fieldOf, isSettingsProblem, Problem } from '../../problems/problem.ts';
import type { SettingsContext } from './context.ts';
import { pageNotFound } from './error-page.ts';
import { field } from './fields.ts';
import { importPage } from './import-page.ts';
import type { ImportView } from './import-page.ts';
import { parseMapping } from './import-mapping.ts';
import { bytesOf, readFormWithFile, receivedFile } from './multipart.ts';
import { sendPage } from './page.ts';
import type { Change, Visit } from './session-guard.ts';
import { signedOf } from './signed.ts';

const path = '/settings/imports';
/** What a form may weigh beside its file. */
const formBytes = 100_000;

export function importRoutes(router: Router, { guard, uploads }: SettingsContext): void {
  async function show(visit: Visit, view: Partial<ImportView> = {}, status = 200): Promise<void> {
    const { visitor, response, csrfToken } = visit;
    const isAdmin = visitor.member.role === 'admin';
    const found = isAdmin ? await uploads.find(visitor.organization) : undefined;
    sendPage(response, importPage({ signed: signedOf(visit), csrfToken, ...found, ...view }), status);
  }

  router.get(
    '/imports',
    guard.page((visit) => show(visit)),
  );

  router.post(
    '/imports',
    readFormWithFile(uploadBounds.bytes),
    guard.change('records_imported', async (change) => {
      const typed = typedIn(change.request.body);
      try {
        await receive(change, typed);
        change.response.redirect(303, path);
      } catch (error) {
        if (!isSettingsProblem(error) || fieldOf(error) === undefined) throw error;
        await show(change, { typed: { ...typed, problem: error } }, error.status);
      }
    }),
  );

  async function receive(change: Change, typed: ReturnType<typeof typedIn>): Promise<void> {
    const { visitor, request } = change;
    const { organization, member } = visitor;
    await uploads.admit({ organization, actor: member });
    const kind = uploadKinds.find((name) => name === typed.kind);
    const file = receivedFile(request);
    const size = Number(request.headers['content-length'] ?? 0);
    if (!kind) throw new Problem('invalid', { sentence: 'Choose what the file contains.', field: 'kind' });
    const mapping = parseMapping(typed);
    if (!file) throw new Problem('invalid', { sentence: 'Choose a file.', field: 'file' });
    if (size > uploadBounds.bytes + formBytes) throw new Problem('too_large', { sentence: tooLarge, field: 'file' });
    const wanted = { kind, mapping, fileName: file.name.slice(-200), size };
    const { stream, isTooLarge } = file;
    const received = { bytes: bytesOf(request, file), isTooLarge, stop: () => void stream.destroy() };
    await uploads.receive({ organization, actor: member }, wanted, received);
  }

  router.post(
    '/imports/:id/start',
    guard.change('records_imported', async ({ visitor, request, response }) => {
      await uploads.start({ organization: visitor.organization, actor: visitor.member }, idIn(request.params));
      response.redirect(303, path);
    }),
  );

  router.post(
    '/imports/:id/discard',
    guard.change('records_imported', async ({ visitor, request, response }) => {
      await uploads.discard({ organization: visitor.organization, actor: visitor.member }, idIn(request.params));
      response.redirect(303, path);
    }),
  );

  router.get(
    '/imports/:id/rejected',
    guard.page(async ({ visitor, request, response }) => {
      if (visitor.member.role !== 'admin')
        throw new Problem('role', { sentence: 'Only admins of the organization can import and export.' });
      const found = await uploads.find(visitor.organization);
      if (!found?.hasRejects || found.upload.id !== request.params.id) throw pageNotFound();
      response.attachment('rejected-rows.csv').set('Cache-Control', 'no-store');
      await pipeline(createReadStream(uploads.rejectsOf(found.upload)), response);
    }),
  );
}

const typedIn = (body: unknown) => ({
  kind: field(body, 'kind'),
  columns: field(body, 'columns'),
  rest: field(body, 'rest'),
});

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function idIn({ id = '' }: { id?: string }): string {
  if (!uuid.test(id)) throw pageNotFound();
  return id;
}
