/** Batches of rows → the database: all of a batch in one transaction, unless one of its rows cannot be stored. */
import { DriverException } from '@mikro-orm/core';
import type { Database } from '../database/orm.ts';
import { forOrganization } from '../database/tenant.ts';
import type { Organization } from '../entities/organization.ts';
import type { Keyed, Kind, Outcome, Refusal } from './kind.ts';

export type Target = { database: Database; organization: Organization };

/**
 * Imports the rows, in order. Where the database refuses what one of them says, the halves are tried by themselves,
 * down to the row, so that the others are stored.
 */
export async function writeBatch<Row extends Keyed>(
  target: Target,
  kind: Kind<Row>,
  rows: readonly Row[],
): Promise<Outcome[]> {
  if (rows.length === 0) return [];
  try {
    return await writeAtOnce(target, kind, rows);
  } catch (error) {
    const refusal = refusalOf(error);
    if (!refusal) throw error;
    if (rows.length === 1) return [[refusal]];
    const middle = Math.ceil(rows.length / 2);
    const before = await writeBatch(target, kind, rows.slice(0, middle));
    return [...before, ...(await writeBatch(target, kind, rows.slice(middle)))];
  }
}

async function writeAtOnce<Row extends Keyed>(
  { database, organization }: Target,
  kind: Kind<Row>,
  rows: readonly Row[],
): Promise<Outcome[]> {
  // An entity manager for each batch: what it has loaded is forgotten with it.
  return forOrganization(database, organization.id).transaction(async (em) => {
    const importRow = await kind.load(em, organization, rows);
    return rows.map(importRow);
  });
}

const takenKeys: Readonly<Record<string, Refusal>> = {
  items_sku: { field: 'sku', code: 'sku_taken', message: 'is taken by another item' },
  proposals_number: { field: 'number', code: 'number_taken', message: 'is taken by another proposal' },
};

/** What is wrong with a row, where the database says that it is the row; an outage or a mistake of ours is neither. */
function refusalOf(error: unknown): Refusal | undefined {
  if (!(error instanceof DriverException)) return undefined;
  const { code = '', constraint }: { code?: string; constraint?: unknown } = error;
  const taken = takenKeys[String(constraint)];
  if (taken) return taken;
  if (code === '22003')
    return { field: '', code: 'out_of_range', message: 'has an amount that is too large to be stored' };
  // Class 23 holds integrity violations, such as a record that was created by somebody else meanwhile.
  return code.startsWith('23')
    ? { field: '', code: 'conflict', message: `cannot be stored: it breaks ${String(constraint)}` }
    : undefined;
}
