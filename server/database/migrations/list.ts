/** Every migration, in the order in which they run; each is loaded only when one of them has to run. */
export const migrations = [
  { name: '20260301-initial', load: async () => (await import('./20260301-initial.ts')).InitialMigration },
  { name: '20260320-sign-in', load: async () => (await import('./20260320-sign-in.ts')).SignInMigration },
  {
    name: '20260410-members-and-usage',
    load: async () => (await import('./20260410-members-and-usage.ts')).MembersAndUsageMigration,
  },
  { name: '20260430-uploads', load: async () => (await import('./20260430-uploads.ts')).UploadsMigration },
] as const;
