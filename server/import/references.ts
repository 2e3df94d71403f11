/** Records that rows refer to, by externalId or by the id in an export. */
import type { Kind } from '../../contract/fields.ts';
import { storedId } from '../records/public-id.ts';
import type { Rejection } from './kind.ts';
import type { Store } from './store.ts';
import type { RecordTable } from '../records/record-table.ts';

type Name = string | null | undefined;
type Named = { externalId?: Name; id?: Name };
export type References = ReturnType<typeof referencesTo>;

export async function loadReferences(
  store: Store,
  table: RecordTable,
  kind: Kind,
  names: readonly Named[],
): Promise<References> {
  const find = async (column: string, named: readonly Name[]) => {
    const values = [...new Set(named)].filter((name) => typeof name === 'string');
    if (values.length === 0) return [];
    // Only customers have a name that other records are found by.
    const columns = `t.${column}, t.id, ${kind === 'customer' ? 't.name_search' : 'null'}`;
    // Otherwise a customer renamed in the meantime would leave its old name in what is about to be stored.
    const rest = store.dry ? '' : 'for share';
    const rows = await store.select(table, columns, { column, values, rest });
    return rows.map((row) => row.map(String)).map(([key = '', id = '', name = '']) => ({ key, id, name }));
  };
  const [externalIds, storedIds] = [
    names.map((name) => name.externalId),
    names.map(({ id }) => storedId(kind, id ?? '')),
  ];
  const byExternalId = await find('external_id', externalIds);
  const byId = await find('id', storedIds);
  const ids = new Map(byExternalId.map(({ key, id }) => [key, id]));
  return referencesTo(kind, ids, new Map([...byExternalId, ...byId].map(({ id, name }) => [id, name])));
}

type Texts = ReadonlyMap<string, string>;

const referencesTo = (kind: Kind, ids: Texts, nameSearches: Texts) => ({
  /** The folded name of a record that a row refers to. */
  nameSearchOf: (id: string): string | undefined => nameSearches.get(id),

  /**
   * The id of the record that the row refers to; null if the row clears the reference; undefined if it says nothing, or
   * if no such record exists, which is added to `unknown`. `field` is the name of both fields without ExternalId or Id.
   */
  resolve(field: string, { externalId, id }: Named, unknown: Rejection[]): string | null | undefined {
    const named = typeof id === 'string' ? storedId(kind, id) : undefined;
    const stored = named !== undefined && nameSearches.has(named) ? named : undefined;
    if (typeof externalId === 'string') {
      const found = ids.get(externalId);
      if (found === undefined) {
        const message = `matches no ${kind}: ${externalId}`;
        unknown.push({ field: `${field}ExternalId`, code: 'not_found', message });
      } else if (stored !== undefined && stored !== found) {
        const message = `names a different ${kind} than ${field.split('.').at(-1)}ExternalId`;
        unknown.push({ field: `${field}Id`, code: 'conflict', message });
      }
      return found;
    }
    if (typeof id === 'string') {
      if (stored !== undefined) return stored;
      unknown.push({ field: `${field}Id`, code: 'not_found', message: `matches no ${kind}: ${id}` });
      return undefined;
    }
    return externalId === null || id === null ? null : undefined;
  },
});
