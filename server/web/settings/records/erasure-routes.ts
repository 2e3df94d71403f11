/** What admins do about a person who asks to be forgotten, or comes back. */
import { forOrganization } from '../../../database/tenant.ts';
import type { AuditAction } from '../../../entities/audit-event.ts';
import { ErasedExternalId } from '../../../entities/erased-external-id.ts';
import { auditingRejections } from '../../../records/audit-log.ts';
import { countProposals, eraseCustomer } from '../../../records/erase-customer.ts';
import { releaseExternalId } from '../../../records/erased-external-ids.ts';
import { storedId } from '../../../records/public-id.ts';
import { requireAdmin, requireTeam } from '../../../records/require-admin.ts';
import type { Html } from '../../html.ts';
import type { SettingsServices } from '../context.ts';
import { pageNotFound } from '../page.ts';
import type { SessionGuard } from '../session-guard.ts';
import { idIn, requireAdminVisit } from '../visit.ts';
import type { Change, Visit } from '../visit.ts';
import { erasePage, releaseSection } from './erasure-page.ts';
import { readRecord } from './member-caller.ts';
import { recordKinds, recordPath } from './record-kinds.ts';
import type { OneRecord } from './record-page.ts';

export function erasureRoutes(guard: SessionGuard, { database, uploads }: SettingsServices): void {
  const tenantOf = ({ organization }: Visit) => forOrganization(database, organization.id);

  const showErasure = async (visit: Visit) => {
    requireAdminVisit(visit, 'erase personal data');
    const id = idIn(visit, 'customer');
    const record = await readRecord(visit, recordKinds[0]);
    return erasePage(visit, record, await countProposals(tenantOf(visit), id));
  };
  const erase = async (change: Change): Promise<string> => {
    await asAdmin(change, 'customer_erased', ['erase personal data', 'Erasing personal data here needs'], (id) =>
      eraseCustomer(tenantOf(change), id, change.member.id),
    );
    await uploads.removeErased();
    return `${pathOf(change)}?erased`;
  };
  guard.form('/customers/:id/erase', { action: 'customer_erased', show: showErasure, submit: erase });

  const release = async (change: Change): Promise<string> => {
    await asAdmin(change, 'external_id_released', ['release external IDs', 'Releasing external IDs needs'], (id) =>
      releaseExternalId(tenantOf(change), id, change.member.id),
    );
    return `${pathOf(change)}?released`;
  };
  guard.form('/customers/:id/release', { action: 'external_id_released', submit: release });
}

/** `work` returns undefined if there is no such customer. */
async function asAdmin(
  { em, member, request }: Change,
  action: AuditAction,
  [deed, what]: [deed: string, what: string],
  work: (id: string) => Promise<boolean | undefined>,
): Promise<void> {
  await auditingRejections(em, { action, memberId: member.id, detail: request.params.id ?? '' }, async () => {
    await em.fork().transactional(async (inner) => requireTeam(await requireAdmin(inner, member, deed), what));
    if ((await work(idIn({ request }, 'customer'))) === undefined) throw pageNotFound();
  });
}

/** What an admin sees on the page of an erased customer. */
export async function releaseOffer(visit: Visit, record: OneRecord): Promise<Html | false> {
  const customerId = storedId('customer', record.id);
  if (customerId === undefined || visit.member.role !== 'admin' || !record.erasedAt) return false;
  const isRejected = (await visit.em.count(ErasedExternalId, { customerId })) > 0;
  return isRejected && releaseSection(visit, record);
}

const pathOf = ({ request }: Visit) => recordPath('customers', request.params.id ?? '');
