/** Spreads organizations' records over the nodes of a Citus cluster. */
import type pg from 'pg';
import { UsageError } from '../config.ts';
import { entities } from './entities.ts';
import { withConnection } from './orm.ts';
import type { Address } from './orm.ts';
import { waitForMigrations } from './migrate.ts';

/** Small tables that stay on the coordinator. */
const onCoordinator = [
  'organizations',
  'members', // sign-in looks up an address before its organization is known
  'api_keys', // a key is looked up before its organization is known
  'key_warnings', // refers to keys
  'audit_events', // refers to members
  'uploads', // the same
  'erased_external_ids', // read together with their key, which the coordinator has
  'webhook_endpoints', // refers to members; those that are due are taken across organizations
  'webhook_imports', // few; a scan reads those of an organization
  'webhook_positions', // read by a scan, across organizations
  'import_mappings', // a few rows, used by the settings pages
];

/** The tables whose rows live on the node of their organization, referenced tables first. */
export const distributedTables = entities
  .map(({ meta }) => meta.tableName)
  .filter((table) => !onCoordinator.includes(table));

type Options = { shards: number; onProgress?: (line: string) => void };

/**
 * Distributes the tables that are not distributed yet, all or none, and returns their names. Throws a UsageError if Citus
 * or a node for the rows is missing.
 */
export function distribute(address: Address, { shards, onProgress = () => {} }: Options): Promise<string[]> {
  return withConnection(address, async (client, { isDistributed: hasCitus }) => {
    await requireCluster(client, hasCitus);
    await waitForMigrations(client, onProgress);
    const tables = await tablesWhere(client, isUndistributed);
    if (tables.length > 0) await distributeTables(client, tables, { shards, onProgress });
    for (const table of await tablesWhere(client, isStillLocal)) {
      onProgress(`Removing the coordinator's copy of ${table}.`);
      await client.query('select truncate_local_data_after_distributing_table($1)', [table]);
    }
    return tables;
  });
}

async function requireCluster(client: pg.ClientBase, hasCitus: boolean): Promise<void> {
  if (!hasCitus) {
    throw new UsageError(
      'Citus is not installed in this database. Run `create extension citus` in it, or keep a single PostgreSQL, which needs no Citus.',
    );
  }
  const { rows } = await client.query('select from pg_dist_node where shouldhaveshards and isactive');
  if (rows.length === 0) {
    throw new UsageError("No node can hold the rows. Add one first: select citus_add_node('host', 5432)");
  }
}

const isUndistributed = 'not exists (select from pg_dist_partition where logicalrelid = name::regclass)';
/** Its rows are already on their nodes, but also still on the coordinator. */
const isStillLocal = 'pg_relation_size(name::regclass) > 0';

/** The tables that meet the condition, in their order. */
async function tablesWhere(client: pg.ClientBase, condition: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select name from unnest($1::text[]) with ordinality as wanted (name, position) where ${condition} order by position`,
    [distributedTables],
  );
  return rows.map(({ name }) => name);
}

async function distributeTables(
  client: pg.ClientBase,
  tables: readonly string[],
  { shards, onProgress }: Required<Options>,
): Promise<void> {
  await client.query('begin');
  // Takes all locks together: a request that holds one table and waits for another could cause a deadlock.
  await client.query(`lock table ${tables.join(', ')} in access exclusive mode`);
  const foreignKeys = await dropForeignKeys(client, tables);
  for (const [index, table] of tables.entries()) {
    const { rows } = await client.query<{ size: string }>('select pg_size_pretty(pg_total_relation_size($1)) as size', [
      table,
    ]);
    onProgress(`${index + 1}/${tables.length}: ${table}, ${rows[0]?.size}`);
    await distributeTable(client, table, shards);
  }
  onProgress('Checking the foreign keys.');
  // Foreign keys cannot refer to rows on another node, and organizations stay on the coordinator.
  for (const { table, name, definition, target } of foreignKeys) {
    if (target !== 'organizations') await client.query(`alter table ${table} add constraint ${name} ${definition}`);
  }
  await client.query('commit');
  await client.query(`analyze ${tables.join(', ')}`);
}

async function distributeTable(client: pg.ClientBase, table: string, shards: number): Promise<void> {
  const [first] = distributedTables;
  const placement =
    table === first ? `shard_count => ${shards}, colocate_with => 'none'` : `colocate_with => '${first}'`;
  await client.query(`select create_distributed_table('${table}', 'organization_id', ${placement})`);
}

type ForeignKey = { table: string; name: string; definition: string; target: string };

async function dropForeignKeys(client: pg.ClientBase, tables: readonly string[]): Promise<ForeignKey[]> {
  const { rows } = await client.query<ForeignKey>(
    `select conrelid::regclass::text as "table", quote_ident(conname) as name, pg_get_constraintdef(oid) as definition,
       confrelid::regclass::text as target
     from pg_constraint where contype = 'f' and conrelid = any($1::text[]::regclass[])`,
    [tables],
  );
  for (const { table, name } of rows) await client.query(`alter table ${table} drop constraint ${name}`);
  return rows;
}
