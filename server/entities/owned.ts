/** What every record of an organization has: its id, its organization, its times, and THE organization filter. */
import { p } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/core';
import { Timestamp } from './timestamp.ts';
import { uuidv7 } from './uuid.ts';

export const organizationFilter = 'organization';

/** The organization that this entity manager is bound to; it throws where there is none. */
export function organizationOf(em: EntityManager): string {
  const id: unknown = em.getFilterParams(organizationFilter)?.id;
  if (typeof id !== 'string') throw new Error('This entity manager is bound to no organization.');
  return id;
}

export const filters = {
  [organizationFilter]: {
    name: organizationFilter,
    cond: ({ id }: { id: string }) => ({ organizationId: id }),
    default: true,
  },
};

/** A text that may be absent; a new record that does not mention it has null, as a stored one. */
export const optionalText = () =>
  p
    .text()
    .$type<string | null>()
    .strictNullable()
    .onCreate(() => null);
export const timestamp = () => p.type(Timestamp);
export const optionalTimestamp = () =>
  p
    .type(Timestamp)
    .$type<string | null>()
    .strictNullable()
    .onCreate(() => null);
export const optionalId = () =>
  p
    .uuid()
    .$type<string | null>()
    .strictNullable()
    .onCreate(() => null);
/** A percentage with up to 4 decimals. */
export const optionalRate = () =>
  p
    .decimal('string')
    .columnType('numeric(7,4)')
    .$type<string | null>()
    .strictNullable()
    .onCreate(() => null);
export const metadata = () => p.json<Record<string, string>>().onCreate(() => ({}));

/** The primary key of every record of an organization: the wall stands in each statement, and tables can be distributed by it. */
export const owned = {
  organizationId: p
    .uuid()
    .primary()
    .onCreate((_, em) => organizationOf(em)),
  id: p
    .uuid()
    .primary()
    .onCreate(() => uuidv7()),
};

type Changed = { updatedAt: string; transactionStart?: string };

/** Both times are the database's: those of the writing transaction's start. */
export const times = {
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
