/** What the three kinds of import have in common: what they need to say for the one way of importing to serve them. */
import type { EntityManager } from '@mikro-orm/core';
import type { z } from 'zod';
import type { Organization } from '../entities/organization.ts';

/** Why a row is not imported; `field` is empty where the row as a whole is wrong. */
export type Refusal = { field: string; code: string; message: string };
/** What became of a row. A refused one has changed nothing. */
export type Outcome = 'created' | 'updated' | 'unchanged' | Refusal[];

export type Keyed = { externalId: string };

export type Kind<Row extends Keyed> = {
  schema: z.ZodType<Row>;
  /** The record as the API shows it: its other fields are the server's. */
  record: z.ZodObject;
  /** The columns that a CSV file may have; undefined where the records do not fit into one. */
  columns?: readonly string[];
  /** The tables that it writes. */
  tables: readonly string[];
  /** How many database rows it stands for. */
  weigh(row: Row): number;
  /**
   * Loads what these rows are about, in a number of queries that does not depend on theirs, and returns what imports
   * one of them. No two of them have the same externalId.
   */
  load(em: EntityManager, organization: Organization, rows: readonly Row[]): Promise<(row: Row) => Outcome>;
};
