/** Every migration, in the order in which they run; each is loaded only when one of them has to run. */
export const migrations = [
  { name: '20260301-initial', load: async () => (await import('./20260301-initial.ts')).InitialMigration },
  { name: '20260320-sign-in', load: async () => (await import('./20260320-sign-in.ts')).SignInMigration },
  {
    name: '20260410-members-and-usage',
    load: async () => (await import('./20260410-members-and-usage.ts')).MembersAndUsageMigration,
  },
  { name: '20260430-uploads', load: async () => (await import('./20260430-uploads.ts')).UploadsMigration },
  { name: '20261122-memberships', load: async () => (await import('./20261122-memberships.ts')).MembershipsMigration },
  {
    name: '20261123-import-choices',
    load: async () => (await import('./20261123-import-choices.ts')).ImportChoicesMigration,
  },
  { name: '20261123-webhooks', load: async () => (await import('./20261123-webhooks.ts')).WebhooksMigration },
  {
    name: '20261124-list-indexes',
    load: async () => (await import('./20261124-list-indexes.ts')).ListIndexesMigration,
  },
  {
    name: '20261124-versions-and-erasure',
    load: async () => (await import('./20261124-versions-and-erasure.ts')).VersionsAndErasureMigration,
  },
  { name: '20261125-connect', load: async () => (await import('./20261125-connect.ts')).ConnectMigration },
  {
    name: '20261125-erased-external-ids',
    load: async () => (await import('./20261125-erased-external-ids.ts')).ErasedExternalIdsMigration,
  },
  {
    name: '20261125-erased-uploads',
    load: async () => (await import('./20261125-erased-uploads.ts')).ErasedUploadsMigration,
  },
  {
    name: '20261125-webhook-imports',
    load: async () => (await import('./20261125-webhook-imports.ts')).WebhookImportsMigration,
  },
  {
    name: '20261126-secret-fingerprint',
    load: async () => (await import('./20261126-secret-fingerprint.ts')).SecretFingerprintMigration,
  },
  {
    name: '20261127-key-warnings',
    load: async () => (await import('./20261127-key-warnings.ts')).KeyWarningsMigration,
  },
  {
    name: '20261127-webhook-first-stored',
    load: async () => (await import('./20261127-webhook-first-stored.ts')).WebhookFirstStoredMigration,
  },
  {
    name: '20261128-two-factor',
    load: async () => (await import('./20261128-two-factor.ts')).TwoFactorMigration,
  },
  { name: '20261129-times', load: async () => (await import('./20261129-times.ts')).TimesMigration },
  {
    name: '20261130-ended-memberships',
    load: async () => (await import('./20261130-ended-memberships.ts')).EndedMembershipsMigration,
  },
] as const;
