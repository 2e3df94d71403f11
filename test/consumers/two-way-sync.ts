/**
 * A two-way sync with SQLite, as the guide describes it: pages and checkpoints in one transaction, own ids as externalId,
 * If-Match on every update. Contacts with `changed = 1` are pushed.
 */
import { DatabaseSync } from 'node:sqlite';
import { createClient, isApiError } from '../../client/index.ts';
import type { Customer } from '../../client/index.ts';

const { API_KEY = '', BASE_URL = '', DATABASE_FILE = '' } = process.env;
type Contact = { key: string; id: string | null; etag: string | null; name: string; email: string | null };

const client = createClient({ baseUrl: BASE_URL, apiKey: API_KEY });
const database = new DatabaseSync(DATABASE_FILE);
database.exec(`create table if not exists contacts
  (key text primary key, id text unique, etag text, name text not null, email text, changed integer not null default 0);
  create table if not exists state (only_row integer primary key check (only_row = 1), checkpoint text not null)`);
const statement = {
  find: database.prepare('select * from contacts where key = ?'),
  store: database.prepare('insert or replace into contacts (key, id, etag, name, email) values (?, ?, ?, ?, ?)'),
  version: database.prepare('update contacts set id = ?, etag = ? where key = ?'),
  forget: database.prepare('delete from contacts where id = ? or key = ?'),
  checkpoint: database.prepare('insert or replace into state values (1, ?)'),
};

const state = database.prepare('select checkpoint from state').get();
const checkpoint = state ? String(state.checkpoint) : null;
for await (const page of client.customers.sync({ checkpoint, limit: 5 }).pages()) {
  inTransaction(() => {
    for (const customer of page.data) if (customer.erasedAt === null) pull(customer);
    for (const { id } of page.erased) statement.forget.run(id, id);
    statement.checkpoint.run(page.checkpoint);
  });
}
// The columns of the table above.
const changed = database.prepare('select * from contacts where changed = 1').all() as Contact[];
for (const contact of changed) await push(contact);

function pull({ id, externalId, etag, name, email }: Customer): void {
  const key = externalId ?? id;
  const contact = statement.find.get(key);
  if (contact?.etag === etag) return;
  // Both sides have changed it: our name and email win over those of the new version.
  if (contact?.changed === 1) statement.version.run(id, etag, key);
  else statement.store.run(key, id, etag, name, email);
}

async function push({ key, id, etag, name, email }: Contact): Promise<void> {
  try {
    const saved =
      id === null
        ? await client.customers.create({ externalId: key, name, email }, { onConflict: 'update' })
        : await client.customers.update(id, { name, email }, { ifMatch: etag ?? undefined });
    inTransaction(() => statement.store.run(key, saved.id, saved.etag, saved.name, saved.email));
  } catch (error) {
    // Changed since the pull: the next run pulls it first.
    if (isApiError(error) && error.is('precondition_failed')) return;
    if (!isApiError(error) || !error.is('customer_erased', 'external_id_erased')) throw error;
    inTransaction(() => statement.forget.run(id, key));
  }
}

function inTransaction(work: () => void): void {
  database.exec('begin immediate');
  work();
  database.exec('commit');
}
