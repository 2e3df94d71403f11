/** Downloads of an organization's records: streamed from one snapshot, for admins. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Router } from 'express';
import { parseInstant } from '../../../contract/parameters.ts';
import { exportFormats, exportKinds, exportRecords } from '../../export/export-records.ts';
import type { ExportFormat, ExportKind } from '../../export/export-records.ts';
import { fieldOf, isSettingsProblem, Problem } from '../../problems/problem.ts';
import { auditingRejections, recordEvent } from '../../records/audit-log.ts';
import { requireAdmin } from '../../records/require-admin.ts';
import type { SettingsContext } from './context.ts';
import { field } from './fields.ts';
import { importPage } from './import-page.ts';
import { sendPage } from './page.ts';
import type { Change } from './session-guard.ts';
import { signedOf } from './signed.ts';

/** Each holds a connection and a snapshot, so they are few, and end where nobody reads on. */
const bounds = { atOnce: 2, idleMs: 30_000, wholeMs: 10 * 60_000 };
const types = { csv: 'text/csv; charset=utf-8', jsonl: 'application/jsonl; charset=utf-8' };

type ExportRequest = { kind: ExportKind; format: ExportFormat; updatedSince: string | undefined };

export function exportRoutes(router: Router, { guard, database, uploads }: SettingsContext): void {
  let running = 0;

  router.post(
    '/exports',
    guard.change('records_exported', async (change) => {
      const { visitor, request, response } = change;
      try {
        const requested = exportRequestOf(request.body);
        await admit(change, requested);
        await send(change, requested);
      } catch (error) {
        if (!isSettingsProblem(error) || fieldOf(error) === undefined) throw error;
        const found = await uploads.find(visitor.organization);
        const since = field(request.body, 'since');
        const view = { signed: signedOf(change), csrfToken: change.csrfToken, ...found };
        sendPage(response, importPage({ ...view, exporting: { since, problem: error.message } }), error.status);
      }
    }),
  );

  function admit({ visitor: { em, member } }: Change, { kind, format }: ExportRequest): Promise<void> {
    const detail = `${kind} as ${format === 'csv' ? 'CSV' : 'JSON Lines'}`;
    const entry = { action: 'records_exported', memberId: member.id, detail } as const;
    return auditingRejections(em, entry, () =>
      em.fork().transactional(async (inner) => {
        await requireAdmin(inner, member, 'import and export');
        if (running >= bounds.atOnce)
          throw new Problem('too_many', {
            sentence: 'Other exports are running. Try again in a minute.',
            retryAfterSeconds: 60,
          });
        recordEvent(inner, entry);
      }),
    );
  }

  async function send({ visitor, response }: Change, { kind, format, updatedSince }: ExportRequest): Promise<void> {
    const organizationId = visitor.organization.id;
    const pieces = exportRecords({ database, organizationId, kind, format, updatedSince, byteOrderMark: true });
    const day = new Date().toISOString().slice(0, 10);
    response.attachment(`${visitor.organization.slug}-${kind}-${day}.${format}`);
    response.set({ 'Content-Type': types[format], 'Cache-Control': 'no-store' });
    response.setTimeout(bounds.idleMs, () => response.destroy());
    running += 1;
    try {
      await pipeline(Readable.from(pieces), response, { signal: AbortSignal.timeout(bounds.wholeMs) });
    } catch (error) {
      // Too late for an error page: closing the connection marks the download as incomplete.
      response.locals.failure = error;
      response.destroy();
    } finally {
      running -= 1;
    }
  }
}

function exportRequestOf(body: unknown): ExportRequest {
  const kind = exportKinds.find((name) => name === field(body, 'kind'));
  const format = exportFormats.find((name) => name === field(body, 'format'));
  if (!kind || !format) throw new Problem('invalid', { sentence: 'Choose what to export, and as what.' });
  const typed = field(body, 'since').trim();
  const updatedSince = typed === '' ? undefined : parseInstant(typed);
  if (typed !== '' && updatedSince === undefined)
    throw new Problem('invalid', { sentence: 'Enter a date, such as 2026-03-01.', field: 'since' });
  return { kind, format, updatedSince };
}
