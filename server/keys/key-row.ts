/** A key with its organization, as one statement reads it. */
import type { Plan } from '../../contract/me.ts';
import type { OrganizationId } from '../entities/owned.ts';
import { toRfc3339 } from '../entities/timestamp.ts';

export type AuthenticatedKey = {
  id: string;
  name: string;
  prefix: string;
  lastFour: string;
  createdAt: string;
  lastUsedAt: string | null;
  revokedAt: string | null;
  endsAt: string | null;
  replacedBy: string | null;
  /** Monotonic time at which a replaced or expiring key stops working; Infinity for one that works until it is revoked. */
  endsAtMs: number;
  organization: { id: OrganizationId; name: string; slug: string; currency: string; plan: Plan; createdAt: string };
};

/** `$1`: the hashes of the keys. */
export const lookup = `select e.epoch, k.hash, k.id, k.name, k.prefix, k.last_four as "lastFour", k.created_at::text as "createdAt",
  k.last_used_at::text as "lastUsedAt", k.revoked_at::text as "revokedAt", k.replaced_by as "replacedBy",
  k.ends_at::text as "endsAt", (extract(epoch from k.ends_at - now()) * 1000)::float8 as "endsInMs", o.id as "organizationId",
  o.name as "organizationName", o.slug, o.currency, o.plan, o.created_at::text as "organizationCreatedAt"
  from access_epoch e left join api_keys k on k.hash = any($1) left join organizations o on o.id = k.organization_id`;

export type KeyRow = Omit<AuthenticatedKey, 'organization' | 'endsAtMs'> & {
  epoch: string;
  hash: string;
  endsInMs: number | null;
  organizationId: OrganizationId;
  organizationName: string;
  organizationCreatedAt: string;
} & Pick<AuthenticatedKey['organization'], 'slug' | 'currency' | 'plan'>;

export function toKey(row: KeyRow, readAtMs: number): AuthenticatedKey {
  const { id, name, prefix, lastFour, createdAt, lastUsedAt, revokedAt, endsAt, replacedBy, endsInMs } = row;
  const { slug, currency, plan } = row;
  return {
    id,
    name,
    prefix,
    lastFour,
    createdAt: toRfc3339(createdAt),
    lastUsedAt: lastUsedAt && toRfc3339(lastUsedAt),
    revokedAt: revokedAt && toRfc3339(revokedAt),
    endsAt: endsAt && toRfc3339(endsAt),
    replacedBy,
    endsAtMs: endsInMs === null ? Number.POSITIVE_INFINITY : readAtMs + endsInMs,
    organization: {
      id: row.organizationId,
      name: row.organizationName,
      slug,
      currency,
      plan,
      createdAt: toRfc3339(row.organizationCreatedAt),
    },
  };
}
