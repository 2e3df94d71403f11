/** Every migration, in the order in which they run. */
import { InitialMigration } from './20260301-initial.ts';
import { SignInMigration } from './20260320-sign-in.ts';
import { MembersAndUsageMigration } from './20260410-members-and-usage.ts';

export const migrations = [
  { name: '20260301-initial', class: InitialMigration },
  { name: '20260320-sign-in', class: SignInMigration },
  { name: '20260410-members-and-usage', class: MembersAndUsageMigration },
] as const;
