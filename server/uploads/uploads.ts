/**
 * Imports of uploaded files: received, checked by a dry run, started, and run in the background, even if the page is
 * closed. Each organization has one at a time. Every process can read its progress from its database row.
 */
import type { Readable } from 'node:stream';
import { createBackground } from '../database/background.ts';
import type { Background } from '../database/background.ts';
import type { Database } from '../database/orm.ts';
import { findErasedUploads, findRecentUploads } from '../database/uploaded-files.ts';
import { forOrganization } from '../database/tenant.ts';
import type { ScopedEntityManager } from '../database/tenant.ts';
import type { Organization } from '../entities/organization.ts';
import type { OrganizationId } from '../entities/owned.ts';
import type { ImportChoices } from '../entities/upload.ts';
import { isInterrupted, isOpen, isWorking, Upload } from '../entities/upload.ts';
import { Problem } from '../problems/problem.ts';
import { withoutUndefined } from '../records/merge-patch.ts';
import { asAdmin, requireTeam } from '../records/require-admin.ts';
import type { Actor } from '../records/require-admin.ts';
import { UploadFiles } from './files.ts';
import { Runner } from './runner.ts';
import type { ReceivedFile } from './runner.ts';
import { remember, storable } from './stored.ts';

/** What the upload request says about the file. */
type NewUpload = Pick<Upload, 'kind' | 'fileName'> & { size: number };
type Who = { organization: Organization; actor: Actor };

type Parts = {
  database: Database;
  /** Where files are kept. */
  folder: string;
  /** Returns a function that logs an error under this message. */
  report: (message: string) => (error: unknown) => void;
};

const attempt = { action: 'records_imported', privilege: 'import and export' } as const;
const pruneEveryMs = 60_000;
/** How many uploads of an organization are listed. */
const listed = 20;
/** How many of them keep their rejected rows: with more, one organization could fill the folder. */
const keptReports = 5;

export class Uploads {
  readonly #database: Database;
  readonly #files: UploadFiles;
  readonly #runner: Runner;
  readonly #background: Background;

  constructor({ database, folder, report }: Parts) {
    this.#database = database;
    this.#files = new UploadFiles(folder);
    this.#runner = new Runner({ database, files: this.#files, onError: report('an upload failed') });
    this.#background = createBackground(report('old uploads were not removed'));
    const prune = () => Promise.all([this.removeOld(), this.removeErased()]);
    this.#background.every(pruneEveryMs, prune);
    this.#background.start(prune);
  }

  /** The organization's latest upload, or the one with the id, if there is one, and whether it has rejected rows. */
  async find({ id: organizationId }: Pick<Organization, 'id'>, id?: string) {
    const [upload] = await latest(this.#em(organizationId), 1, id === undefined ? {} : { id });
    return upload && { upload, hasRejects: await this.#files.hasRejects(upload) };
  }

  /** The latest completed imports, newest first. */
  async ended({ id }: Pick<Organization, 'id'>): Promise<Upload[]> {
    return (await latest(this.#em(id), listed)).filter(({ state }) => state === 'imported');
  }

  /** Rejects a member who is not an admin, and records the attempt in the audit log. */
  requireAdmin(who: Who): Promise<void> {
    return this.#asAdmin(who, async () => undefined);
  }

  /** Stores the file and starts its check. */
  async receive(who: Who, { size, ...wanted }: NewUpload, received: ReceivedFile): Promise<void> {
    const upload = await this.#asAdmin(who, async (em) => {
      const uploads = await latest(em, listed);
      const [found] = uploads;
      if (found && isWorking(found)) throw running();
      // A completed import keeps its page; anything else is replaced.
      const replaced = uploads.slice(0, 1).filter(({ state }) => state !== 'imported');
      for (const one of replaced) em.remove(one);
      const older = uploads.slice(replaced.length + keptReports - 1);
      await this.#files.removeFilesOf([...replaced, ...older].map(({ id }) => id));
      const mine = { memberId: who.actor.id, mapping: {}, state: 'uploading', bytesTotal: size } as const;
      return em.create(Upload, { ...storable(wanted), ...mine, ...(found && { createdAt: after(found) }) });
    });
    await this.#runner.receive(upload, received);
  }

  /** Checks the file again, with what was chosen for its columns. */
  async choose(who: Who, id: string, choices: ImportChoices): Promise<void> {
    const upload = await this.#begin(who, id, (found) => {
      if (!isOpen(found)) throw alreadyStarted();
      found.state = 'checking';
      found.mapping = storable(withoutUndefined(choices));
    });
    this.#runner.start(upload, 'check');
  }

  /** Starts or resumes an import. `checkedAt`: the `activeAt` of the check whose result the admin has seen. */
  async start(who: Who, id: string, checkedAt?: string): Promise<void> {
    let isResumed = false;
    const upload = await this.#begin(who, id, async (found, em) => {
      isResumed = isInterrupted(found);
      if (found.state !== 'checked' && !isResumed) throw alreadyStarted();
      if ((checkedAt ?? found.activeAt) !== found.activeAt) throw checkedAgain();
      found.state = 'importing';
      await remember(em, found);
    });
    this.#runner.start(upload, isResumed ? 'resume' : 'import');
  }

  /** Ends a running import between two chunks, unless the admin has seen only its check, and removes the file. */
  async discard(who: Who, id: string, checkedAt = ''): Promise<void> {
    await this.#asAdmin(who, async (em) => {
      const found = await uploadIn(em, id);
      const isNew = found.state === 'importing' && checkedAt !== '' && checkedAt !== found.activeAt;
      if (isNew || found.state === 'imported') throw alreadyStarted();
      em.remove(found);
    });
    // Work in progress notices that the row is gone, and removes what it has written since.
    await this.#files.removeFilesOf([id]);
  }

  /** Removes the files on this machine that may hold the data of erased customers; other processes do it within a minute. */
  async removeErased(): Promise<void> {
    const ids = await this.#files.ids();
    if (ids.length > 0) await this.#files.removeFilesOf(await findErasedUploads(this.#database.pool, ids));
  }

  /** Removes the files on this machine that are older than a day, whatever time this machine thinks it is. */
  removeOld(): Promise<void> {
    return this.#files.prune((ids) => findRecentUploads(this.#database.pool, ids));
  }

  /** The upload's rejected rows, as a CSV file. */
  readRejects(upload: Upload): Promise<Readable> {
    return this.#files.readRejects(upload);
  }

  /** Stops running imports between two chunks, while requests are finished. */
  async stop(): Promise<void> {
    this.#runner.stop();
  }

  async close(): Promise<void> {
    await Promise.all([this.#background.close(), this.#runner.close()]);
  }

  #em(organizationId: OrganizationId): ScopedEntityManager {
    return forOrganization(this.#database, organizationId).em();
  }

  /** Applies `change` and returns the upload, ready for work. */
  #begin(who: Who, id: string, change: (upload: Upload, em: ScopedEntityManager) => Promise<void> | void) {
    return this.#asAdmin(who, async (em) => {
      const found = await uploadIn(em, id);
      if (isWorking(found)) throw running();
      await change(found, em);
      if (!(await this.#files.has(found)))
        throw new Problem('repeated', { sentence: 'This server no longer has the file. Upload it again.' });
      return Object.assign(found, { failure: null, bytesRead: 0, rowsRead: 0, activeAt: found.transactionStart });
    });
  }

  /** In one transaction, during which no one else changes the organization's uploads and the actor is an admin. */
  #asAdmin<T>({ organization, actor }: Who, work: (em: ScopedEntityManager) => Promise<T>): Promise<T> {
    return asAdmin(this.#em(organization.id), actor, attempt, async (inner, locked) => {
      requireTeam(locked, 'Import and export need');
      return { value: await work(inner) };
    });
  }
}

/** The organization's latest uploads, newest first, by the clock of the database: an id has that of the process. */
const latest = (em: ScopedEntityManager, limit: number, which: { id?: string } = {}): Promise<Upload[]> =>
  em.find(Upload, which, { orderBy: { createdAt: 'desc', id: 'desc' }, limit });

/** Now, or just after this upload if the database's clock was set back: the latest is the one that is shown. */
const after = ({ createdAt, transactionStart }: Upload): string =>
  new Date(Math.max(Date.parse(transactionStart), Date.parse(createdAt) + 1)).toISOString();

const alreadyStarted = () => new Problem('repeated', { sentence: 'This import has already been started.' });
const checkedAgain = () =>
  new Problem('repeated', { sentence: 'The file has been checked again since. This is the new result.' });
const running = () =>
  new Problem('repeated', { sentence: 'Another import is running. Wait until it has finished, or cancel it.' });
export const importGone = () =>
  new Problem('unknown', { sentence: 'This import no longer exists. Upload the file again.' });

async function uploadIn(em: ScopedEntityManager, id: string): Promise<Upload> {
  const found = await em.findOne(Upload, { id });
  if (!found) throw importGone();
  return found;
}
