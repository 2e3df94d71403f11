/** Downloads of a snapshot of an organization's records, for admins. */
import { v1 } from '../../../../contract/v1.ts';
import { exportFormats, exportKinds, exportRecords } from '../../../export/export-records.ts';
import type { ExportKind } from '../../../export/export-records.ts';
import { createSemaphore } from '../../../export/semaphore.ts';
import type { Semaphore } from '../../../export/semaphore.ts';
import { spooled } from '../../../export/spool.ts';
import { listConditions, operationOf } from '../../../api/operations.ts';
import { Problem } from '../../../problems/problem.ts';
import { asAdmin, requireTeam } from '../../../records/require-admin.ts';
import type { Condition } from '../../../records/sql.ts';
import { sendPieces } from '../download.ts';
import { field, instantIn } from '../fields.ts';
import { showImports } from '../import/import-routes.ts';
import { filtersOf, inputOf, searchOf } from '../records/records-page.ts';
import type { SessionGuard } from '../session-guard.ts';
import type { Change } from '../visit.ts';

/** Reading the records takes a connection and a snapshot, so further exports wait their turn. */
const snapshots = 2;
const types = { csv: 'text/csv; charset=utf-8', jsonl: 'application/jsonl; charset=utf-8' };

type ExportRequest = ReturnType<typeof exportRequestOf>;

export function exportRoutes(guard: SessionGuard): void {
  /** The ids of organizations with a running export: each has one at a time. */
  const running = new Set<string>();
  const limited = createSemaphore(snapshots);

  guard.form('/exports', {
    action: 'records_exported',
    async submit(change) {
      const { id } = change.organization;
      // Taken before the first `await`, so no other request can take it in between.
      const isFree = !running.has(id);
      running.add(id);
      try {
        const requested = exportRequestOf(change.request.body);
        await admit(change, requested, isFree);
        await send(change, requested, limited);
        return undefined;
      } finally {
        if (isFree) running.delete(id);
      }
    },
    show: (visit, rejectedExport) => showImports(visit, { rejectedExport }),
  });
}

function admit({ em, member }: Change, requested: ExportRequest, isFree: boolean): Promise<void> {
  const { kind, format, filters } = requested;
  const filtered = filters.length > 0 ? `, filtered by ${filters.join(', ')}` : '';
  const detail = `${kind} as ${format === 'csv' ? 'CSV' : 'JSON Lines'}${filtered}`;
  const attempt = { action: 'records_exported', privilege: 'import and export', detail } as const;
  return asAdmin(em.fork(), member, attempt, async (_, organization) => {
    requireTeam(organization, 'Import and export need');
    if (!isFree)
      throw new Problem('too_many', {
        sentence: 'An export of this organization is still running. Try again when it is done.',
        retryAfterSeconds: 60,
      });
    return { value: undefined, entry: { detail } };
  });
}

async function send(
  { organization, response, context }: Change,
  { kind, format, conditions }: ExportRequest,
  limited: Semaphore,
): Promise<void> {
  const { database } = context;
  const pieces = exportRecords({
    database,
    organizationId: organization.id,
    kind,
    format,
    conditions,
    byteOrderMark: true,
  });
  await using bytes = spooled(limited(pieces));
  // A failure before the first byte still gets an error page.
  const { value: first = Buffer.alloc(0) } = await bytes.next();
  // The deadline has already sent a response.
  if (response.headersSent) return;
  const all = async function* () {
    yield first;
    yield* bytes;
  };
  const day = new Date().toISOString().slice(0, 10);
  response.attachment(`${organization.slug}-${kind}-${day}.${format}`);
  response.set({ 'Content-Type': types[format], 'Cache-Control': 'no-store' });
  await sendPieces(response, all());
}

function exportRequestOf(body: unknown) {
  const kind = exportKinds.find((name) => name === field(body, 'kind'));
  const format = exportFormats.find((name) => name === field(body, 'format'));
  if (!kind || !format) throw new Problem('invalid', { sentence: 'Choose what to export and the format.' });
  const search = filtersOf(searchOf(field(body, 'filters')));
  if (field(body, 'since').trim() !== '')
    search.set('updatedSince', instantIn(body, 'since', 'Enter a date, such as 2026-03-01.'));
  // Only the names of the filters: this goes into the audit log, and their values may be personal data.
  return { kind, format, conditions: conditionsFor(kind, search), filters: [...new Set(search.keys())] };
}

/** The conditions of the API's own list, which also rejects invalid parameters. */
function conditionsFor(kind: ExportKind, search: URLSearchParams): Condition<never>[] {
  const { query } = operationOf(v1[kind].list).parse({ query: inputOf(search) });
  return listConditions[kind](Object(query));
}
