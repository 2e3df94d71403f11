/** The records that an import created and changed, by the names that they have now. */
import type { ScopedEntityManager } from '../../../database/tenant.ts';
import { Customer } from '../../../entities/customer.ts';
import { Item } from '../../../entities/item.ts';
import { Proposal } from '../../../entities/proposal.ts';
import type { Upload } from '../../../entities/upload.ts';
import type { Named } from './ended-page.ts';

/** More are on the page of all records. */
const most = 100;

export async function namesOf(
  em: ScopedEntityManager,
  { kind, records }: Upload,
): Promise<{ created: Named[]; updated: Named[] }> {
  const [created, updated] = [records.created.slice(0, most), records.updated.slice(0, most)];
  const found = await load(em, kind, [...created, ...updated]);
  const names = new Map(found.map((record) => [record.id, record]));
  const named = (ids: readonly string[]) => ids.flatMap((id) => names.get(id) ?? []);
  return { created: named(created), updated: named(updated) };
}

async function load(em: ScopedEntityManager, kind: Upload['kind'], ids: readonly string[]): Promise<Named[]> {
  const where = { id: { $in: [...ids] } };
  if (kind === 'customers') return em.find(Customer, where);
  if (kind === 'items') return em.find(Item, where);
  const proposals = await em.find(Proposal, where);
  return proposals.map(({ id, number, title }) => ({ id, name: `${number} ${title}` }));
}
