/** Settings of PostgreSQL that every connection has, whatever is set elsewhere. */

/**
 * Overrides what is set for the database or the role: times are printed in UTC, two writers of a record wait for each
 * other instead of failing, short statements are not JIT-compiled, and a connection may idle in its pool. The server also
 * closes a connection whose other end is gone, within a minute: by default, it would keep each for hours, and a few broken
 * links would use up its max_connections. A limit of 0 means none.
 */
export function serverSettings(statementMs: number, lockMs = 0): string {
  const settings = {
    timezone: 'UTC',
    datestyle: 'ISO',
    // Any less, and sums and times in milliseconds would be rounded.
    extra_float_digits: 1,
    default_transaction_isolation: String.raw`read\ committed`,
    jit: 'off',
    // Names in a backup are as format() writes them, and must be the same where it is restored.
    quote_all_identifiers: 'off',
    statement_timeout: statementMs,
    // If a link breaks silently in the middle of a transaction, the server must not keep its locks.
    idle_in_transaction_session_timeout: statementMs && 10_000,
    lock_timeout: lockMs,
    idle_session_timeout: 0,
    tcp_keepalives_idle: 30,
    tcp_keepalives_interval: 10,
    tcp_keepalives_count: 3,
    tcp_user_timeout: 60_000,
  };
  const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  return options.join(' ');
}

/** The `application_name` of connections whose transactions only read, however long they take. */
export const readerName = 'proposal-api reader';

/** Statements that begin to read one snapshot. `syncedThrough` does not wait for it to end. */
export const beginSnapshot = `set application_name = '${readerName}'; begin isolation level repeatable read read only`;

/** For exports, imports, backups and migrations. PostgreSQL 15 and 16 do not have this setting, and reject it as an option. */
export const unlimitedTransactions = `select set_config(name, '0', false) from pg_settings where name = 'transaction_timeout'`;

/** These parameters of a URL would replace the settings of this service. */
const ownParameters =
  /(?<=[?&])(?:application_name|(?:statement|lock|query|idle_in_transaction_session)_timeout)=[^&#]*/g;

/** Options in a URL, such as a search_path, replace all others: these are appended to them, so that these win. */
export const withOptions = (url: string, options: string): string =>
  url
    .replace(ownParameters, '')
    .replace(/(?<=[?&]options=)[^&#]*/g, (own) => `${own}%20${encodeURIComponent(options)}`);
