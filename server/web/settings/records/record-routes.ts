/**
 * Customers, proposals and items in the browser. Admins can also erase the personal data of a customer, and release the
 * external ID if the person returns.
 */
import { forOrganization } from '../../../database/tenant.ts';
import type { AuditAction } from '../../../entities/audit-event.ts';
import { ErasedExternalId } from '../../../entities/erased-external-id.ts';
import { Problem } from '../../../problems/problem.ts';
import { auditingRejections } from '../../../records/audit-log.ts';
import { countProposals, eraseCustomer } from '../../../records/erase-customer.ts';
import { releaseExternalId } from '../../../records/erased-external-ids.ts';
import { storedId } from '../../../records/public-id.ts';
import { requireAdmin, requireTeam } from '../../../records/require-admin.ts';
import { html } from '../../html.ts';
import type { Html } from '../../html.ts';
import { field } from '../fields.ts';
import { postForm, questionPage } from '../forms.ts';
import { pageNotFound } from '../page.ts';
import type { Page } from '../page.ts';
import { card } from '../sections.ts';
import type { SessionGuard } from '../session-guard.ts';
import { count } from '../usage/usage-chart.ts';
import { idIn, requireAdminVisit, sentenceFor } from '../visit.ts';
import type { Change, Visit } from '../visit.ts';
import { readList, readRecord, recordKinds, recordPath } from './record-kinds.ts';
import type { OneRecord, RecordKind } from './record-kinds.ts';
import { recordPage } from './record-page.ts';
import { inputOf, recordsNeedTeamPage, recordsPage, searchOf } from './records-page.ts';

const sentences = {
  erased: 'The personal data has been erased.',
  released: 'The external ID can be used again.',
};

export function recordRoutes(guard: SessionGuard): void {
  for (const kind of Object.values(recordKinds)) {
    guard.page(`/${kind.name}`, async (visit) => {
      if (visit.organization.plan !== 'team') return recordsNeedTeamPage(visit, kind);
      const search = searchOf(new URL(visit.request.originalUrl, 'http://settings.invalid').search);
      const found = await readList(visit, { kind, query: inputOf(search) }).catch((error: unknown) =>
        whatIsWrong(error, kind),
      );
      return recordsPage(visit, { kind, search, found });
    });

    guard.page(`/${kind.name}/:id`, async (visit) => {
      if (visit.organization.plan !== 'team') return recordsNeedTeamPage(visit, kind);
      const record = await readRecord(visit, kind);
      const done = sentenceFor(sentences, field(visit.request.query, 'done'));
      return recordPage(visit, { kind, record, done, erased: await releaseOffer(visit, record) });
    });
  }
  guard.form('/customers/:id/erase', { action: 'customer_erased', show: showErasure, submit: erase });
  guard.form('/customers/:id/release', { action: 'external_id_released', submit: release });
}

/** The sentence for a parameter that the API rejects. */
function whatIsWrong(error: unknown, { filters }: RecordKind): string {
  if (!(error instanceof Problem) || error.status !== 400) throw error;
  const [first] = error.errors;
  if (!first) return error.message;
  const label = first.field === 'q' ? 'Search' : filters.find(({ name }) => name === first.field)?.label;
  return `${label ?? first.field} ${first.message}.`;
}

const tenantOf = ({ organization, context }: Visit) => forOrganization(context.database, organization.id);

async function showErasure(visit: Visit): Promise<Page> {
  requireAdminVisit(visit, 'erase personal data');
  if (visit.organization.plan !== 'team') return recordsNeedTeamPage(visit, recordKinds.customers);
  const record = await readRecord(visit, recordKinds.customers);
  const proposals = await countProposals(tenantOf(visit), idIn(visit, 'customer'));
  const path = recordPath('customers', record.id);
  return questionPage(visit, {
    title: `Erase the personal data of ${record.name ?? record.id}?`,
    text: html`<p>
        <strong>This cannot be undone.</strong> Name, addresses, email, phone, website, tax ID, notes, tags, metadata
        and external ID are erased from the customer,
        ${proposals > 0 && `${proposals === 1 ? 'its proposal' : `its ${count(proposals)} proposals`},`} the search,
        stored responses, webhook deliveries and the audit log.
      </p>
      <p>
        The customer keeps its id and is archived.
        ${proposals > 0 && 'Its proposals keep their numbers, amounts, statuses and times.'} Backups, exported files and
        the systems that read the API keep their copies.
      </p>`,
    button: 'Erase personal data',
    isDestructive: true,
    action: `${path}/erase`,
    back: path,
    current: '/settings/customers',
  });
}

async function erase(change: Change): Promise<string> {
  await asTeamAdmin(change, 'customer_erased', ['erase personal data', 'Erasing personal data here needs'], (id) =>
    eraseCustomer(tenantOf(change), id, change.member.id),
  );
  await change.context.uploads.removeErased();
  return `${pathOf(change)}?done=erased`;
}

async function release(change: Change): Promise<string> {
  await asTeamAdmin(change, 'external_id_released', ['release external IDs', 'Releasing external IDs needs'], (id) =>
    releaseExternalId(tenantOf(change), id, change.member.id),
  );
  return `${pathOf(change)}?done=released`;
}

/** `work` returns undefined if there is no such customer. */
async function asTeamAdmin(
  { em, member, request }: Change,
  action: AuditAction,
  [privilege, what]: [privilege: string, what: string],
  work: (id: string) => Promise<boolean | undefined>,
): Promise<void> {
  await auditingRejections(em, { action, memberId: member.id, detail: request.params.id ?? '' }, async () => {
    await em.fork().transactional(async (inner) => requireTeam(await requireAdmin(inner, member, privilege), what));
    if ((await work(idIn({ request }, 'customer'))) === undefined) throw pageNotFound();
  });
}

/** What an admin sees on the page of an erased customer whose external ID is still rejected. */
async function releaseOffer(visit: Visit, record: OneRecord): Promise<Html | false> {
  const customerId = storedId('customer', record.id);
  if (customerId === undefined || visit.member.role !== 'admin' || !record.erasedAt) return false;
  if ((await visit.em.count(ErasedExternalId, { customerId })) === 0) return false;
  const button = html`<button type="submit" class="secondary">Release the external ID</button>`;
  const content = html`<p>
      The external ID that this customer had is rejected, so no sync or import can restore the erased data. If the
      person returns, allow it to be used again. This customer stays erased.
    </p>
    ${postForm(visit, `${recordPath('customers', record.id)}/release`, button)}`;
  return card('release', 'External ID', content);
}

const pathOf = ({ request }: Visit) => recordPath('customers', request.params.id ?? '');
