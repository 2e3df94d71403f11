/** A key with its organization, as one statement reads it. */
import type { ApiKey, Organization } from '../entities/organization.ts';

type Shown = 'id' | 'name' | 'prefix' | 'lastFour' | 'createdAt';
type Changing = 'lastUsedAt' | 'revokedAt' | 'endsAt' | 'replacedBy';
export type AuthenticatedKey = Pick<ApiKey, Shown | Changing> & {
  /** When a replaced or expiring key stops working, by the database's clock; Infinity for one that works until revoked. */
  endsAtMs: number;
  organization: Pick<Organization, 'id' | 'name' | 'slug' | 'currency' | 'plan' | 'createdAt'>;
};

/**
 * Changes with every change to a key or a plan, and with the server: after a restart or a failover, the database may have
 * lost a key that was created last.
 */
export const currentEpoch = `concat(e.epoch, pg_postmaster_start_time()) as epoch,
  (extract(epoch from now()) * 1000)::float8 as "nowMs" from access_epoch e`;

/** `$1`: the hashes of the keys. */
export const lookup = `select k.hash, k.id, k.name, k.prefix, k.last_four as "lastFour", k.created_at as "createdAt",
  k.last_used_at as "lastUsedAt", k.revoked_at as "revokedAt", k.replaced_by as "replacedBy", k.ends_at as "endsAt",
  o.id as "organizationId", o.name as "organizationName", o.slug, o.currency, o.plan,
  o.created_at as "organizationCreatedAt",
  ${currentEpoch} left join api_keys k on k.hash = any($1) left join organizations o on o.id = k.organization_id`;

export type KeyRow = Pick<ApiKey, Shown | Changing | 'hash'> &
  Pick<Organization, 'slug' | 'currency' | 'plan'> & {
    epoch: string;
    nowMs: number;
    organizationId: Organization['id'];
    organizationName: string;
    organizationCreatedAt: string;
  };

export function toKey(row: KeyRow): AuthenticatedKey {
  const { epoch: _epoch, nowMs: _nowMs, hash: _hash, slug, currency, plan, ...others } = row;
  const { organizationId: id, organizationName: name, organizationCreatedAt: createdAt, ...key } = others;
  const endsAtMs = key.endsAt === null ? Number.POSITIVE_INFINITY : Date.parse(key.endsAt);
  return { ...key, endsAtMs, organization: { id, name, slug, currency, plan, createdAt } };
}
