import type { Migration } from '@mikro-orm/migrations';

/** A file exports one class. */
type Listed = { name: string; load: () => Promise<Record<string, new (...parts: never[]) => Migration>> };

/** Every migration, in the order in which they run; each is loaded only when one of them has to run. */
export const migrations = [
  { name: '20260301-initial', load: () => import('./20260301-initial.ts') },
  { name: '20260320-sign-in', load: () => import('./20260320-sign-in.ts') },
  { name: '20260410-members-and-usage', load: () => import('./20260410-members-and-usage.ts') },
  { name: '20260430-uploads', load: () => import('./20260430-uploads.ts') },
  { name: '20261122-memberships', load: () => import('./20261122-memberships.ts') },
  { name: '20261123-import-choices', load: () => import('./20261123-import-choices.ts') },
  { name: '20261123-webhooks', load: () => import('./20261123-webhooks.ts') },
  { name: '20261124-list-indexes', load: () => import('./20261124-list-indexes.ts') },
  { name: '20261124-versions-and-erasure', load: () => import('./20261124-versions-and-erasure.ts') },
  { name: '20261125-connect', load: () => import('./20261125-connect.ts') },
  { name: '20261125-erased-external-ids', load: () => import('./20261125-erased-external-ids.ts') },
  { name: '20261125-erased-uploads', load: () => import('./20261125-erased-uploads.ts') },
  { name: '20261125-webhook-imports', load: () => import('./20261125-webhook-imports.ts') },
  { name: '20261126-secret-fingerprint', load: () => import('./20261126-secret-fingerprint.ts') },
  { name: '20261127-key-warnings', load: () => import('./20261127-key-warnings.ts') },
  { name: '20261127-webhook-first-stored', load: () => import('./20261127-webhook-first-stored.ts') },
  { name: '20261128-two-factor', load: () => import('./20261128-two-factor.ts') },
  { name: '20261129-times', load: () => import('./20261129-times.ts') },
  { name: '20261130-ended-memberships', load: () => import('./20261130-ended-memberships.ts') },
  { name: '20261201-change-indexes', load: () => import('./20261201-change-indexes.ts') },
  { name: '20261202-search-texts', load: () => import('./20261202-search-texts.ts') },
] as const satisfies Listed[];
