/** What the columns of the last file of a kind meant, which is proposed for the next file; not how it wrote numbers. */
import type { ScopedEntityManager } from '../database/tenant.ts';
import { ImportMapping } from '../entities/upload.ts';
import type { RememberedChoices, Upload } from '../entities/upload.ts';
import { withoutUndefined } from '../records/merge-patch.ts';

const find = async (em: ScopedEntityManager, kind: Upload['kind']) => (await em.find(ImportMapping, { kind }))[0];

export async function rememberedChoices(
  em: ScopedEntityManager,
  kind: Upload['kind'],
): Promise<RememberedChoices | null> {
  return (await find(em, kind))?.choices ?? null;
}

export async function remember(
  em: ScopedEntityManager,
  { kind, mapping: { map, match, type } }: Upload,
): Promise<void> {
  if (!map) return;
  const found = await find(em, kind);
  const choices = withoutUndefined({ map: { ...found?.choices.map, ...map }, match, type, columns: Object.keys(map) });
  if (found) found.choices = choices;
  else em.create(ImportMapping, { kind, choices });
}
