/** What the routes of the settings share. */
import type { Mailer } from '../../accounts/mail.ts';
import type { SingleSignOn } from '../../accounts/single-sign-on.ts';
import type { SignIns } from '../../accounts/sign-in.ts';
import type { Database } from '../../database/orm.ts';
import type { Uploads } from '../../import/uploads/uploads.ts';
import type { KeyDirectory } from '../../keys/directory.ts';
import type { UsageLog } from '../../keys/usage.ts';
import type { CsrfTokens } from './csrf.ts';
import type { SessionGuard } from './session-guard.ts';

export type SettingsContext = {
  guard: SessionGuard;
  signIns: SignIns;
  csrf: CsrfTokens;
  database: Database;
  keys: KeyDirectory;
  usage: UsageLog;
  uploads: Uploads;
  /** Undefined if no mail server is configured. */
  mailer: Mailer | undefined;
  /** Undefined if no OpenID provider is configured. */
  singleSignOn: SingleSignOn | undefined;
  baseUrl: () => string;
  /** For what fails beside a request, such as sending mail. */
  onError: (error: unknown) => void;
};
