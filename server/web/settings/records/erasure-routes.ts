/** What admins do about a person who asks to be forgotten, or comes back. */
import type { Router } from 'express';
import { forOrganization } from '../../../database/tenant.ts';
import type { AuditAction } from '../../../entities/audit-event.ts';
import { ErasedExternalId } from '../../../entities/erased-external-id.ts';
import { auditingRejections } from '../../../records/audit-log.ts';
import { countProposals, eraseCustomer } from '../../../records/erase-customer.ts';
import { releaseExternalId } from '../../../records/erased-external-ids.ts';
import { storedId } from '../../../records/public-id.ts';
import { requireAdmin, requireTeam } from '../../../records/require-admin.ts';
import type { Html } from '../../html.ts';
import type { SettingsContext } from '../context.ts';
import { pageNotFound } from '../error-page.ts';
import { hiddenToken } from '../fields.ts';
import { sendPage } from '../page.ts';
import type { Change, Visit } from '../session-guard.ts';
import { idIn, requireAdminVisit } from '../visit.ts';
import { erasePage, releaseSection } from './erasure-page.ts';
import { readRecord } from './member-caller.ts';
import { recordKinds, recordPath } from './record-kinds.ts';
import type { OneRecord } from './record-page.ts';

export function erasureRoutes(router: Router, context: SettingsContext): void {
  const { guard, database } = context;
  const tenantOf = ({ visitor }: Visit) => forOrganization(database, visitor.organization.id);

  router.get(
    '/customers/:id/erase',
    guard.page(async (visit) => {
      const { visitor, request, response, csrfToken } = visit;
      requireAdminVisit(visit, 'erase personal data');
      const id = idIn(visit, 'customer');
      const kind = recordKinds[0];
      const record = await readRecord(context, visitor, { kind, id: request.params.id ?? '' });
      const proposals = await countProposals(tenantOf(visit), id);
      sendPage(response, erasePage({ signed: visit.signed, record, proposals, token: hiddenToken(csrfToken()) }));
    }),
  );

  router.post('/customers/:id/erase', guard.change('customer_erased', erase));
  async function erase(change: Change): Promise<void> {
    await asAdmin(change, 'customer_erased', ['erase personal data', 'Erasing personal data here needs'], (id) =>
      eraseCustomer(tenantOf(change), id, change.visitor.member.id),
    );
    await context.uploads.removeErased();
    change.response.redirect(303, `${pathOf(change)}?erased`);
  }

  router.post('/customers/:id/release', guard.change('external_id_released', release));
  async function release(change: Change): Promise<void> {
    await asAdmin(change, 'external_id_released', ['release external IDs', 'Releasing external IDs needs'], (id) =>
      releaseExternalId(tenantOf(change), id, change.visitor.member.id),
    );
    change.response.redirect(303, `${pathOf(change)}?released`);
  }
}

/** `work` returns undefined if there is no such customer. */
async function asAdmin(
  { visitor: { em, member }, request }: Change,
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
export async function releaseOffer({ visitor, csrfToken }: Visit, record: OneRecord): Promise<Html | false> {
  const customerId = storedId('customer', record.id);
  if (customerId === undefined || visitor.member.role !== 'admin' || !record.erasedAt) return false;
  const isRejected = (await visitor.em.count(ErasedExternalId, { customerId })) > 0;
  return isRejected && releaseSection(record, hiddenToken(csrfToken()));
}

const pathOf = ({ request }: Visit) => recordPath('customers', request.params.id ?? '');
