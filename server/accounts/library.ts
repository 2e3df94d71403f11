/** Configures the sign-in library. It keeps passwords, sessions and links; we decide which member they belong to. */
import type { BetterAuthOptions } from 'better-auth';
import type pg from 'pg';
import { hashedTokenAdapter } from './hashed-tokens.ts';
import { hashPassword, passwordLength, verifyPassword } from './passwords.ts';
import { signInTables } from './sign-in-tables.ts';

/** A session ends after two hours without a request, and twelve hours after the sign-in at the latest. */
export const sessionSeconds = { idle: 2 * 3600, whole: 12 * 3600 };
const renewSeconds = 300;

/** The IP address of a request, for the list of sessions; a client cannot set it. */
export const ipHeader = 'x-settings-ip';

export type LibraryParts = {
  pool: pg.Pool;
  /** Signs cookies: at least 32 characters. */
  secret: string;
  /** Whether people reach the service over https, so that its cookies are for https only. */
  secure: boolean;
  /** Receives the library's errors, which never contain a password or a token. */
  onError: (error: unknown) => void;
};

export const cookieName = (secure: boolean) => `${secure ? '__Host-' : ''}settings.session_token`;

/** Without the provider's tokens, because the provider is not called again. */
const withoutTokens = async (account: Record<string, unknown>) => ({
  data: { ...account, accessToken: null, refreshToken: null, idToken: null, scope: null },
});

export function libraryOptions({ pool, secret, secure, onError }: LibraryParts) {
  return {
    appName: 'Settings',
    // Only its functions are called; it serves no route of its own.
    baseURL: 'http://localhost',
    secret,
    database: hashedTokenAdapter(signInTables(pool)),
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: passwordLength.least,
      maxPasswordLength: passwordLength.most,
      revokeSessionsOnPasswordReset: true,
      password: { hash: (password) => hashPassword(password), verify: verifyPassword },
    },
    session: { expiresIn: sessionSeconds.idle, updateAge: renewSeconds },
    verification: { storeIdentifier: 'hashed' },
    account: { storeStateStrategy: 'cookie' },
    databaseHooks: { account: { create: { before: withoutTokens }, update: { before: withoutTokens } } },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    advanced: {
      cookiePrefix: 'settings',
      // It would prefix __Secure-; __Host- also binds a cookie to this host.
      useSecureCookies: false,
      cookies: { session_token: { name: cookieName(secure) } },
      defaultCookieAttributes: { httpOnly: true, sameSite: 'lax', path: secure ? '/' : '/settings', secure },
      database: { generateId: 'uuid' },
      ipAddress: { ipAddressHeaders: [ipHeader] },
    },
    logger: {
      level: 'error',
      log: (_: unknown, message: string, ...rest: unknown[]) =>
        onError(rest.find((argument) => argument instanceof Error) ?? new Error(message)),
    },
  } as const satisfies BetterAuthOptions;
}
