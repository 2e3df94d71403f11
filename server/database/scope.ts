/** Statements for one organization. Outside database/, only `records/` imports this, so handlers and pages run no SQL. */
import type { EntityManager } from '@mikro-orm/postgresql';
import type { OrganizationId } from '../entities/owned.ts';
import type { ScopedQuery } from './prepared.ts';

type Statements = {
  /** Runs a statement whose `$1` is the organization's id. */
  query: ScopedQuery;
  /** The same for a statement that only reads, and may take at most 3 seconds. */
  read: ScopedQuery;
  /** A new entity manager, bound to the organization, for MikroORM's metadata and its statements. */
  manager(): EntityManager;
};

export const statements: unique symbol = Symbol('statements');

/** An organization, on the pool or in a transaction. */
export type Scope = {
  readonly organizationId: OrganizationId;
  /** Whether a statement can write to only one table: see Database. */
  readonly isDistributed: boolean;
  readonly [statements]: Statements;
};
