/** The member that a page or form is about. */
import { findMember } from '../../../accounts/members.ts';
import type { Member } from '../../../entities/organization.ts';
import type { Change, Visit } from '../session-guard.ts';
import { idIn, requireAdminVisit } from '../visit.ts';

/** Of a page that only admins see. */
export function memberFor(visit: Visit): Promise<Member> {
  requireAdminVisit(visit, 'manage members');
  return findMember(visit.visitor.em, idIn(visit, 'member'));
}

export const subjectOf = (change: Change) => ({
  id: idIn(change, 'member'),
  organizationId: change.visitor.organization.id,
});
