/** The names of members, including removed ones, to show who did something. */
import type { ScopedEntityManager } from '../database/tenant.ts';
import { Member } from '../entities/organization.ts';

export type MemberNames = Awaited<ReturnType<typeof readMemberNames>>;

export async function readMemberNames(em: ScopedEntityManager, ids: readonly (string | null)[]) {
  const wanted = [...new Set(ids.filter((id) => id !== null))];
  const members = await em.find(Member, { id: { $in: wanted } });
  const byId = new Map(members.map((member) => [member.id, member]));
  const find = (id: string | null) => (id === null ? undefined : byId.get(id));
  return {
    nameOf: (id: string | null): string => find(id)?.name ?? '',
    isRemoved: (id: string | null): boolean => Boolean(find(id)?.removedAt),
  };
}
