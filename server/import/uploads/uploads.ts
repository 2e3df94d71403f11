/**
 * Imports of uploaded files: received, checked by a dry run, started, and run in the background, whether or not anybody
 * watches. One at a time for each organization; its row in the database says how far it is, to every process.
 */
import type { Database } from '../../database/orm.ts';
import { forOrganization } from '../../database/tenant.ts';
import type { ScopedEntityManager } from '../../database/tenant.ts';
import type { Organization } from '../../entities/organization.ts';
import { isInterrupted, isWorking, Upload } from '../../entities/upload.ts';
import { Problem } from '../../problems/problem.ts';
import { auditingRejections } from '../../records/audit-log.ts';
import { lockOrganization, requireAdmin } from '../../records/require-admin.ts';
import type { Actor } from '../../records/require-admin.ts';
import { uploadFiles } from './files.ts';
import { createRunner } from './runner.ts';
import type { ReceivedFile } from './runner.ts';

/** What a member says about a file. */
export type NewUpload = Pick<Upload, 'kind' | 'fileName' | 'mapping'> & { size: number };
type Who = { organization: Organization; actor: Actor };

export type Uploads = {
  /** The organization's upload, if there is one, and whether its rejected rows can be downloaded. */
  find(organization: Pick<Organization, 'id'>): Promise<{ upload: Upload; hasRejects: boolean } | undefined>;
  /** Rejects, and puts on the audit log, the attempt of a member who is not an admin. */
  admit(who: Who): Promise<void>;
  /** Stores the file and begins to check it. */
  receive(who: Who, wanted: NewUpload, received: ReceivedFile): Promise<void>;
  /** Begins the import of a file that was checked, or one that was interrupted. */
  start(who: Who, id: string): Promise<void>;
  /** Ends a running import between two chunks, and removes the file. */
  discard(who: Who, id: string): Promise<void>;
  /** The file of the upload's rejected rows. */
  rejectsOf(upload: Upload): string;
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
const pruneEveryMs = 3_600_000;

export function createUploads({ database, folder, onError }: Parts): Uploads {
  const files = uploadFiles(folder);
  const runner = createRunner({ database, files, onError });
  const prune = () => void files.prune().catch(onError);
  const timer = setInterval(prune, pruneEveryMs).unref();
  prune();

  /** In one transaction: nobody else changes the organization's upload meanwhile, and the actor is an admin. */
  function asAdmin<T>({ organization, actor }: Who, work: (em: ScopedEntityManager) => Promise<T>): Promise<T> {
    const { em, transaction } = forOrganization(database, organization.id);
    return auditingRejections(em(), { ...attempt, memberId: actor.id }, () =>
      transaction(async (inner) => {
        await lockOrganization(inner, organization.id);
        await requireAdmin(inner, actor, 'import and export');
        return work(inner);
      }),
    );
  }

  return {
    async find({ id }) {
      const [upload] = await forOrganization(database, id).em().find(Upload, {});
      return upload && { upload, hasRejects: await files.hasRejects(upload) };
    },

    admit: (who) => asAdmin(who, async () => undefined),

    async receive(who, { size, ...wanted }, received) {
      const { upload, before } = await asAdmin(who, async (em) => {
        const [found] = await em.find(Upload, {});
        if (found && isWorking(found))
          throw new Problem('repeated', {
            sentence: 'Another import is running. Wait until it has finished, or cancel it.',
          });
        if (found) {
          em.remove(found);
          await em.flush();
        }
        return {
          before: found,
          upload: em.create(Upload, { ...wanted, memberId: who.actor.id, state: 'uploading', bytesTotal: size }),
        };
      });
      if (before) await files.removeAll(before);
      await runner.receive(upload, who.organization, received);
    },

    async start(who, id) {
      const upload = await asAdmin(who, async (em) => {
        const found = await uploadIn(em, id);
        if (found.state !== 'checked' && !isInterrupted(found))
          throw new Problem('repeated', { sentence: 'This import has already been started.' });
        if (!(await files.has(found)))
          throw new Problem('repeated', { sentence: 'This server no longer has the file. Upload it again.' });
        found.state = 'importing';
        found.failure = null;
        found.bytesRead = 0;
        found.rowsRead = 0;
        found.activeAt = found.transactionStart ?? found.activeAt;
        return found;
      });
      runner.import(upload, who.organization);
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

    rejectsOf: (upload) => files.rejectsOf(upload),
    async close() {
      clearInterval(timer);
      await runner.close();
    },
  };
}

async function uploadIn(em: ScopedEntityManager, id: string): Promise<Upload> {
  const found = await em.findOne(Upload, { id });
  if (!found) throw new Problem('unknown', { sentence: 'This import is no longer here. Upload the file again.' });
  return found;
}
