/** What is stored about uploads: text from the file, and what the columns of earlier files of each kind meant. */
import type { ScopedEntityManager } from '../database/tenant.ts';
import { ImportMapping } from '../entities/upload.ts';
import type { RememberedChoices, Upload } from '../entities/upload.ts';
import { withoutUndefined } from '../records/merge-patch.ts';

/** Replaces what PostgreSQL can store neither as text nor as JSON: NUL and lone surrogates. */
export function storable<T>(found: T): T;
export function storable(found: unknown): unknown {
  if (typeof found === 'string') return found.toWellFormed().replaceAll('\0', '\uFFFD');
  if (Array.isArray(found)) return found.map(storable);
  if (typeof found !== 'object' || found === null) return found;
  return Object.fromEntries(Object.entries(found).map(([name, value]) => [storable(name), storable(value)]));
}

const find = async (em: ScopedEntityManager, kind: Upload['kind']) => (await em.find(ImportMapping, { kind }))[0];

/** The choices to propose for the next file. */
export const rememberedChoices = async (
  em: ScopedEntityManager,
  kind: Upload['kind'],
): Promise<RememberedChoices | null> => (await find(em, kind))?.choices ?? null;

/** Does not remember the notation of numbers and dates, which may differ in the next file. */
export async function remember(
  em: ScopedEntityManager,
  { kind, mapping: { map, match, type } }: Pick<Upload, 'kind' | 'mapping'>,
): Promise<void> {
  if (!map) return;
  const found = await find(em, kind);
  const choices = withoutUndefined({
    map: withEarlier(map, found?.choices.map),
    match,
    type,
    columns: Object.keys(map),
  });
  if (found) found.choices = choices;
  else em.create(ImportMapping, { kind, choices });
}

/** Besides those of the latest file, the names of columns that are remembered have at most this many characters in all. */
export const earlierCharacters = 100_000;

function withEarlier<Field>(map: Record<string, Field>, earlier: Record<string, Field> = {}): Record<string, Field> {
  let characters = 0;
  const kept = Object.entries(earlier).filter(([name]) => {
    if (!Object.hasOwn(map, name)) characters += name.length;
    return characters <= earlierCharacters;
  });
  return Object.fromEntries([...kept, ...Object.entries(map)]);
}
