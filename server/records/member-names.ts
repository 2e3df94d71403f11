/** The names of members, including removed ones, to show who did something. */
import type { ScopedEntityManager } from '../database/tenant.ts';
import { Member } from '../entities/organization.ts';

export type MemberNames = {
  nameOf(memberId: string | null): string;
  isRemoved(memberId: string | null): boolean;
};

export async function readMemberNames(em: ScopedEntityManager, ids: readonly (string | null)[]): Promise<MemberNames> {
  const wanted = [...new Set(ids.filter((id) => id !== null))];
  const members = await em.find(Member, { id: { $in: wanted } });
  const byId = new Map(members.map((member) => [member.id, member]));
  const find = (id: string | null) => (id === null ? undefined : byId.get(id));
  return {
    nameOf: (id) => find(id)?.name ?? '',
    isRemoved: (id) => Boolean(find(id)?.removedAt),
  };
}
