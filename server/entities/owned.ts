/** What every record of an organization has: its id, its organization, its times, and the organization filter. */
import { p, raw } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/core';
import { Timestamp } from './timestamp.ts';
import { uuidv7 } from './uuid.ts';

export const organizationFilter = 'organization';

declare const proven: unique symbol;
/**
 * The id of the organization that a caller acts for. It comes from rows that were read by a key's hash, a session's email
 * address or a command's slug, never from what a caller sends.
 */
export type OrganizationId = string & { readonly [proven]: 'organization' };

/** The organization that this entity manager is bound to; throws if there is none. */
export function organizationOf(em: Pick<EntityManager, 'getFilterParams'>): OrganizationId {
  const id: unknown = em.getFilterParams(organizationFilter)?.id;
  if (typeof id !== 'string') throw new Error('This entity manager is not bound to an organization.');
  // `forOrganization` sets it to such an id.
  return id as OrganizationId;
}

export const filters = {
  [organizationFilter]: {
    name: organizationFilter,
    cond: ({ id }: { id: string }) => ({ organizationId: id }),
    default: true,
  },
};

const none = () => null;

/** An optional text: null in a new record that does not set it, as in a stored one. */
export const optionalText = () => p.text().$type<string | null>().strictNullable().onCreate(none);
export const timestamp = () => p.type(Timestamp);
export const optionalTimestamp = () => p.type(Timestamp).$type<string | null>().strictNullable().onCreate(none);
export const optionalId = () => p.uuid().$type<string | null>().strictNullable().onCreate(none);
export const optionalInteger = () => p.integer().$type<number | null>().strictNullable().onCreate(none);
/** A percentage with up to 4 decimals. */
export const optionalRate = () =>
  p.decimal('string').columnType('numeric(7,4)').$type<string | null>().strictNullable().onCreate(none);
export const optionalJson = <T extends object>() =>
  p.json<T | null>().$type<T | null>().strictNullable().onCreate(none);
export const metadata = () => p.json<Record<string, string>>().onCreate(() => ({}));

/** The primary key of every record includes its organization, by which statements filter and tables can be distributed. */
export const owned = {
  organizationId: p
    .uuid()
    .$type<OrganizationId>()
    .primary()
    .onCreate((_, em) => organizationOf(em)),
  id: p
    .uuid()
    .primary()
    .onCreate(() => uuidv7()),
};

/** For a condition on, or a change to, any entity: the start of the transaction, by the database's clock. */
export const transactionTime = () => raw('now()');

type Changed = { updatedAt: string; transactionStart?: string };

/** What every record has. Both times come from the database: the start of the writing transaction. */
export const versioned = {
  /** Counts the versions of a record: every statement that changes one adds 1. */
  revision: p
    .integer()
    .onCreate(() => 1)
    .onUpdate(({ revision }: { revision: number }) => revision + 1),
  createdAt: timestamp().defaultRaw('now()'),
  // Never earlier than what is stored: a transaction that waited for the row began before the one it waited for.
  updatedAt: timestamp()
    .defaultRaw('now()')
    .onUpdate(({ updatedAt, transactionStart = '' }: Changed) =>
      transactionStart > updatedAt ? transactionStart : updatedAt,
    ),
  /** When the transaction that loaded this record began. */
  transactionStart: timestamp().formula('now()::timestamptz(3)').persist(false),
};
