/** Records that rows refer to, by externalId or by the id in an export. */
import type { Kind } from '../../contract/fields.ts';
import { storedId } from '../records/public-id.ts';
import type { Rejection } from './kind.ts';
import type { Store } from './store.ts';
import type { RecordTable } from '../records/record-table.ts';

type Name = string | null | undefined;
type Named = { externalId?: Name; id?: Name };

export class References {
  readonly #kind: Kind;
  readonly #byExternalId: ReadonlyMap<string, string>;
  readonly #ids: ReadonlyMap<string, string>;

  private constructor(kind: Kind, byExternalId: ReadonlyMap<string, string>, ids: ReadonlyMap<string, string>) {
    this.#kind = kind;
    this.#byExternalId = byExternalId;
    this.#ids = ids;
  }

  static async load(store: Store, table: RecordTable, kind: Kind, names: readonly Named[]): Promise<References> {
    const externalIds = new Set(names.map(({ externalId }) => externalId).filter((name) => typeof name === 'string'));
    const ids = new Set(names.map(({ id }) => storedId(kind, id ?? '')).filter((id) => id !== undefined));
    // Otherwise a customer renamed in the meantime would leave its old name in what is about to be stored.
    const rest = store.dry ? '' : 'for share';
    const find = async (column: string, values: ReadonlySet<string>): Promise<[string, string, string][]> => {
      if (values.size === 0) return [];
      // Only customers have a name that other records are found by.
      const columns = `t.${column}, t.id, ${kind === 'customer' ? 't.name_search' : 'null'}`;
      const rows = await store.select(table, columns, { column, values: [...values], rest });
      return rows.map(([key, id, nameSearch]) => [String(key), String(id), String(nameSearch)]);
    };
    const named = await find('external_id', externalIds);
    const given = await find('id', ids);
    return new References(
      kind,
      new Map(named.map(([key, id]) => [key, id])),
      new Map([...named, ...given].map(([, id, nameSearch]) => [id, nameSearch])),
    );
  }

  /** The folded name of a record that a row names. */
  nameSearchOf(id: string): string | undefined {
    return this.#ids.get(id);
  }

  /**
   * The id of the record that is named, null where none is to be, undefined where the row says nothing or names one
   * that does not exist, which is added to `unknown`. `field` is the name of both fields without its ending.
   */
  resolve(field: string, externalId: Name, id: Name, unknown: Rejection[]): string | null | undefined {
    if (typeof externalId === 'string') {
      const found = this.#byExternalId.get(externalId);
      if (found === undefined) {
        const message = `is the externalId of no ${this.#kind}: ${externalId}`;
        unknown.push({ field: `${field}ExternalId`, code: 'not_found', message });
      }
      return found;
    }
    if (typeof id === 'string') {
      const stored = storedId(this.#kind, id);
      if (stored !== undefined && this.#ids.has(stored)) return stored;
      unknown.push({ field: `${field}Id`, code: 'not_found', message: `is the id of no ${this.#kind}: ${id}` });
      return undefined;
    }
    return externalId === null || id === null ? null : undefined;
  }
}
