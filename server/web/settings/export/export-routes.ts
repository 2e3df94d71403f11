/** Downloads of an organization's records as they are at one moment, for admins. */
import { pipeline } from 'node:stream/promises';
import { parseInstant } from '../../../../contract/instant.ts';
import { v1 } from '../../../../contract/v1.ts';
import { listConditions } from '../../../api/filters.ts';
import { exportFormats, exportKinds, exportRecords } from '../../../export/export-records.ts';
import type { ExportFormat, ExportKind } from '../../../export/export-records.ts';
import { spooled } from '../../../export/spool.ts';
import { operationOf } from '../../../api/operations.ts';
import { Problem } from '../../../problems/problem.ts';
import { asAdmin, requireTeam } from '../../../records/require-admin.ts';
import type { Condition } from '../../../records/sql.ts';
import { field } from '../fields.ts';
import { showImports } from '../import/import-routes.ts';
import { filtersOf, inputOf, searchOf } from '../records/records-page.ts';
import type { SessionGuard } from '../session-guard.ts';
import type { Change } from '../visit.ts';

/** An organization has one at a time, which ends where nobody reads on. */
const bounds = { idleMs: 30_000, wholeMs: 10 * 60_000 };
/** Reading the records takes a connection and a snapshot: more exports wait for their turn. */
const snapshots = 2;
const types = { csv: 'text/csv; charset=utf-8', jsonl: 'application/jsonl; charset=utf-8' };

type ExportRequest = {
  kind: ExportKind;
  format: ExportFormat;
  conditions: Condition<never>[];
  /** The names of the filters: their values may be personal data, and the audit log keeps them. */
  filters: readonly string[];
};

export function exportRoutes(guard: SessionGuard): void {
  /** Of organizations. */
  const running = new Set<string>();
  const takeTurn = createTurns(snapshots);

  guard.form('/exports', {
    action: 'records_exported',
    async submit(change) {
      const { id } = change.organization;
      // Taken before anything is awaited, so that no other request can take it meanwhile.
      const isFree = !running.has(id);
      running.add(id);
      try {
        const requested = exportRequestOf(change.request.body);
        await admit(change, requested, isFree);
        await send(change, requested, takeTurn);
        return undefined;
      } finally {
        if (isFree) running.delete(id);
      }
    },
    again: (change, rejectedExport) => showImports(change, { rejectedExport }),
  });
}

function admit({ em, member }: Change, requested: ExportRequest, isFree: boolean): Promise<void> {
  const { kind, format, filters } = requested;
  const filtered = filters.length > 0 ? `, filtered by ${filters.join(', ')}` : '';
  const detail = `${kind} as ${format === 'csv' ? 'CSV' : 'JSON Lines'}${filtered}`;
  const attempt = { action: 'records_exported', deed: 'import and export', detail } as const;
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
  takeTurn: Turns,
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
  const bytes = spooled(takeTurn(pieces));
  // What fails before the first byte is an error page.
  const { value: first = Buffer.alloc(0) } = await bytes.next();
  const all = async function* () {
    yield first;
    yield* bytes;
  };
  const day = new Date().toISOString().slice(0, 10);
  response.attachment(`${organization.slug}-${kind}-${day}.${format}`);
  response.set({ 'Content-Type': types[format], 'Cache-Control': 'no-store' });
  response.setTimeout(bounds.idleMs, () => response.destroy());
  try {
    await pipeline(all, response, { signal: AbortSignal.timeout(bounds.wholeMs) });
  } catch (error) {
    // Closing the connection marks the download as incomplete.
    response.locals.failure = error;
    response.destroy();
  } finally {
    await bytes.return(undefined);
  }
}

type Turns = ReturnType<typeof createTurns>;

/** Lets so many sources be read at once; the others begin when one of them has ended. */
function createTurns(atOnce: number) {
  let free = atOnce;
  const waiting: (() => void)[] = [];
  return async function* take<T>(source: AsyncIterable<T>): AsyncGenerator<T> {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      yield* source;
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}

function exportRequestOf(body: unknown): ExportRequest {
  const kind = exportKinds.find((name) => name === field(body, 'kind'));
  const format = exportFormats.find((name) => name === field(body, 'format'));
  if (!kind || !format) throw new Problem('invalid', { sentence: 'Choose what to export and the format.' });
  const typed = field(body, 'since').trim();
  const since = typed === '' ? undefined : parseInstant(typed);
  if (typed !== '' && since === undefined)
    throw new Problem('invalid', { sentence: 'Enter a date, such as 2026-03-01.', field: 'since' });
  const search = filtersOf(searchOf(field(body, 'filters')));
  if (since !== undefined) search.set('updatedSince', since);
  return { kind, format, conditions: conditionsFor(kind, search), filters: [...new Set(search.keys())] };
}

/** The same as the list's: what the API rejects is a problem here, too. */
function conditionsFor(kind: ExportKind, search: URLSearchParams): Condition<never>[] {
  const { query } = operationOf(v1[kind].list).parse({ query: inputOf(search) });
  return listConditions[kind](Object(query));
}
