/**
 * Folds the texts that searches and `sort=name` compare again, because fold() now ignores and replaces more characters.
 * Folding a folded text is enough. Times and versions stay: what callers see does not change.
 */
import { Migration } from '@mikro-orm/migrations';
import { emailFragments } from '../../entities/email-fragments.ts';
import { fold, phoneMark, searchForms } from '../../entities/fold.ts';

const foldSearched = (text: string) =>
  text
    .split(phoneMark)
    .map((part) => searchForms(part).join('\n'))
    .join(phoneMark);

type Columns = Readonly<Record<string, (text: string) => string>>;
const tables: Readonly<Record<string, Columns>> = {
  customers: { name_key: fold, name_search: foldSearched, search: foldSearched },
  items: { name_key: fold, search: foldSearched },
  proposals: { customer_key: foldSearched, search: foldSearched },
};

/** Texts have up to 5000 characters. */
const pageSize = 500;

type Row = { id: string; revision: number; search: string; [column: string]: unknown };

/** The new texts, or nothing if they are the stored ones. */
function foldedRow(columns: Columns, row: Row): object[] {
  const folded: Record<string, unknown> = {};
  for (const [name, folding] of Object.entries(columns)) {
    const text = row[name];
    folded[name] = typeof text === 'string' ? folding(text) : text;
  }
  if (Object.entries(folded).every(([name, text]) => text === row[name])) return [];
  const [searched = ''] = foldSearched(row.search).split(phoneMark);
  return [{ ...folded, id: row.id, revision: row.revision, stored: row.search, at: emailFragments(searched) }];
}

export class SearchTextsMigration extends Migration {
  /** Each statement is on its own: a long transaction would hold back writes, syncs and webhooks. */
  override isTransactional(): boolean {
    return false;
  }

  override async up(): Promise<void> {
    for (const { id } of await this.driver.execute<{ id: string }[]>('select id from organizations'))
      for (const [table, columns] of Object.entries(tables)) await this.foldTable(id, table, columns);
  }

  private async foldTable(organization: string, table: string, columns: Columns): Promise<void> {
    const names = Object.keys(columns);
    const tokens = table === 'customers' ? `, tokens = jsonb_set(t.tokens, '{at}', v.at)` : '';
    const read = `select id, revision, ${names.join(', ')} from ${table}
      where organization_id = ? and id > ? order by id limit ${pageSize}`;
    // Not over what the previous release has written meanwhile.
    const write = `update ${table} t set ${names.map((name) => `${name} = v.${name}`).join(', ')}${tokens}
      from jsonb_to_recordset(?::jsonb)
        as v (id uuid, revision int, stored text, at jsonb, ${names.map((name) => `${name} text`).join(', ')})
      where t.organization_id = ? and t.id = v.id and t.revision = v.revision and t.search = v.stored`;
    let after = '00000000-0000-0000-0000-000000000000';
    for (;;) {
      const page = await this.driver.execute<Row[]>(read, [organization, after]);
      const changed = page.flatMap((row) => foldedRow(columns, row));
      if (changed.length > 0) await this.driver.execute(write, [JSON.stringify(changed), organization]);
      const last = page.at(-1);
      if (page.length < pageSize || !last) return;
      after = last.id;
    }
  }
}
