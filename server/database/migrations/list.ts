/** Every migration, in the order in which they run. */
import { InitialMigration } from './20260301-initial.ts';
import { SignInMigration } from './20260320-sign-in.ts';

export const migrations = [
  { name: '20260301-initial', class: InitialMigration },
  { name: '20260320-sign-in', class: SignInMigration },
] as const;
