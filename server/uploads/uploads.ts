/**
 * Imports of uploaded files: received, checked by a dry run, started, and run in the background, whether or not anyone
 * watches. One at a time for each organization; its row in the database says how far it is, to every process.
 */
import type { Readable } from 'node:stream';
import { createBackground } from '../database/background.ts';
import type { Database } from '../database/orm.ts';
import { erasedAmong } from '../database/erased-uploads.ts';
import { forOrganization } from '../database/tenant.ts';
import type { ScopedEntityManager } from '../database/tenant.ts';
import type { Organization } from '../entities/organization.ts';
import type { ImportChoices } from '../entities/upload.ts';
import { isInterrupted, isOpen, isWorking, Upload } from '../entities/upload.ts';
import { Problem } from '../problems/problem.ts';
import { withoutUndefined } from '../records/merge-patch.ts';
import { auditingRejections } from '../records/audit-log.ts';
import { requireAdmin, requireTeam } from '../records/require-admin.ts';
import type { Actor } from '../records/require-admin.ts';
import { uploadFiles } from './files.ts';
import { remember } from './remembered.ts';
import { createRunner } from './runner.ts';
import type { ReceivedFile } from './runner.ts';
import { storable } from './storable.ts';

/** What a member says about a file. */
export type NewUpload = Pick<Upload, 'kind' | 'fileName'> & { size: number };
type Who = { organization: Organization; actor: Actor };

/** `hasRejects`: its rejected rows can be downloaded. */
type Shown = { upload: Upload; hasRejects: boolean };

export type Uploads = {
  /** The organization's latest upload, if there is one. */
  find(organization: Pick<Organization, 'id'>): Promise<Shown | undefined>;
  findOne(organization: Pick<Organization, 'id'>, id: string): Promise<Shown | undefined>;
  /** The latest imports that came to their end, newest first. */
  ended(organization: Pick<Organization, 'id'>): Promise<Upload[]>;
  /** Rejects, and puts on the audit log, the attempt of a member who is not an admin. */
  admit(who: Who): Promise<void>;
  /** Stores the file and begins to check it. */
  receive(who: Who, wanted: NewUpload, received: ReceivedFile): Promise<void>;
  /** Checks the file again with what its columns mean. */
  choose(who: Who, id: string, choices: ImportChoices): Promise<void>;
  /** Begins the import of a file that was checked, or one that was interrupted. */
  start(who: Who, id: string): Promise<void>;
  /** Ends a running import between two chunks, and removes the file. */
  discard(who: Who, id: string): Promise<void>;
  /** Removes the files on this machine that may hold the data of erased customers; other processes do it within a minute. */
  removeErased(): Promise<void>;
  /** The upload's rejected rows, as a CSV file. */
  readRejects(upload: Upload): Promise<Readable>;
  /** Stops what runs, between two chunks. */
  close(): Promise<void>;
};

type Parts = {
  database: Database;
  /** Where files are kept. */
  folder: string;
  onError: (error: unknown) => void;
};

const attempt = { action: 'records_imported' } as const;
const pruneEveryMs = 60_000;
/** Of an organization. */
const listed = 20;
/** The rest of them lose their rejected rows, or one organization could fill the folder. */
const keptReports = 5;

export function createUploads({ database, folder, onError }: Parts): Uploads {
  const files = uploadFiles(folder);
  const runner = createRunner({ database, files, onError });
  const background = createBackground(onError);
  const prune = () => Promise.all([files.prune(), removeErased()]);
  background.every(pruneEveryMs, prune);
  background.start(prune);

  async function removeErased(): Promise<void> {
    const ids = await files.ids();
    if (ids.length > 0) await files.removeFilesOf(await erasedAmong(database.pool, ids));
  }

  /** In one transaction: nobody else changes the organization's upload meanwhile, and the actor is an admin. */
  function asAdmin<T>({ organization, actor }: Who, work: (em: ScopedEntityManager) => Promise<T>): Promise<T> {
    const { em, transaction } = forOrganization(database, organization.id);
    return auditingRejections(em(), { ...attempt, memberId: actor.id }, () =>
      transaction(async (inner) => {
        requireTeam(await requireAdmin(inner, actor, 'import and export'), 'Import and export need');
        return work(inner);
      }),
    );
  }

  /** The organization's latest uploads, newest first. */
  const latest = (organization: Pick<Organization, 'id'>, limit: number) =>
    forOrganization(database, organization.id)
      .em()
      .find(Upload, {}, { orderBy: { id: 'desc' }, limit });
  const shown = async (upload: Upload) => ({ upload, hasRejects: await files.hasRejects(upload) });

  /** Returns the upload, ready for the work that `change` asks for. */
  const begin = (
    who: Who,
    id: string,
    change: (upload: Upload, em: ScopedEntityManager) => Promise<void> | void,
  ): Promise<Upload> =>
    asAdmin(who, async (em) => {
      const found = await uploadIn(em, id);
      if (isWorking(found)) throw running();
      if (!(await files.has(found)))
        throw new Problem('repeated', { sentence: 'This server no longer has the file. Upload it again.' });
      await change(found, em);
      found.failure = null;
      found.bytesRead = 0;
      found.rowsRead = 0;
      found.activeAt = found.transactionStart ?? found.activeAt;
      return found;
    });

  return {
    async find(organization) {
      const [upload] = await latest(organization, 1);
      return upload && shown(upload);
    },

    async findOne({ id: organizationId }, id) {
      const upload = await forOrganization(database, organizationId).em().findOne(Upload, { id });
      return upload ? shown(upload) : undefined;
    },

    async ended(organization) {
      return (await latest(organization, listed)).filter(({ state }) => state === 'imported');
    },

    admit: (who) => asAdmin(who, async () => undefined),

    async receive(who, { size, ...wanted }, received) {
      const { upload, before } = await asAdmin(who, async (em) => {
        const [found] = await em.find(Upload, {}, { orderBy: { id: 'desc' }, limit: 1 });
        if (found && isWorking(found)) throw running();
        // What was imported stays on its page; what was not is replaced.
        if (found && found.state !== 'imported') {
          em.remove(found);
          await em.flush();
        }
        const mine = { memberId: who.actor.id, mapping: {}, state: 'uploading', bytesTotal: size } as const;
        return { before: found, upload: em.create(Upload, { ...storable(wanted), ...mine }) };
      });
      if (before && before.state !== 'imported') await files.removeAll(before);
      const older = (await latest(who.organization, listed)).slice(keptReports);
      await files.removeFilesOf(older.map(({ id }) => id));
      await runner.receive(upload, received);
    },

    async choose(who, id, choices) {
      const upload = await begin(who, id, (found) => {
        if (!isOpen(found)) throw new Problem('repeated', { sentence: 'This import has already been started.' });
        found.state = 'checking';
        found.mapping = storable(withoutUndefined(choices));
      });
      runner.check(upload);
    },

    async start(who, id) {
      const upload = await begin(who, id, async (found, em) => {
        if (found.state !== 'checked' && !isInterrupted(found))
          throw new Problem('repeated', { sentence: 'This import has already been started.' });
        found.state = 'importing';
        await remember(em, found);
      });
      runner.import(upload);
    },

    async discard(who, id) {
      const upload = await asAdmin(who, async (em) => {
        const found = await uploadIn(em, id);
        em.remove(found);
        return found;
      });
      // Work in progress notices that the row is gone, and removes the files itself.
      if (!isWorking(upload)) await files.removeAll(upload);
    },

    removeErased,
    readRejects: (upload) => files.readRejects(upload),
    async close() {
      await Promise.all([background.close(), runner.close()]);
    },
  };
}

const running = () =>
  new Problem('repeated', { sentence: 'Another import is running. Wait until it has finished, or cancel it.' });

async function uploadIn(em: ScopedEntityManager, id: string): Promise<Upload> {
  const found = await em.findOne(Upload, { id });
  if (!found) throw new Problem('unknown', { sentence: 'This import no longer exists. Upload the file again.' });
  return found;
}
