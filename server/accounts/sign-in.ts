/** Signing in with e-mail and password: better-auth keeps passwords, sessions and links; whom they stand for is ours. */
import { randomBytes } from 'node:crypto';
import { betterAuth } from 'better-auth';
import type { BetterAuthOptions } from 'better-auth';
import type { Database } from '../database/orm.ts';
import { forOrganization } from '../database/tenant.ts';
import type { ScopedEntityManager } from '../database/tenant.ts';
import { memberWithEmail, readSecret, removeEnded, signInTables } from './sign-in-tables.ts';
import { Member, Organization } from '../entities/organization.ts';

/** A session ends after two hours without a request, and twelve hours after the sign-in whatever happens. */
export const sessionSeconds = { idle: 2 * 3600, whole: 12 * 3600 };
const renewSeconds = 300;
export const linkHours = 72;
export const passwordLength = { least: 12, most: 128 };

export type Visitor = {
  member: Member;
  organization: Organization;
  /** Bound to the member's organization. */
  em: ScopedEntityManager;
  /** What forms are bound to; it is not the session's token. */
  sessionId: string;
};

/** `cookies` are values of Set-Cookie for the answer. */
type WithCookies<T> = T & { cookies: string[] };

export type SignIns = {
  /** True where the password is that of a member; the same work is done where there is no such member. */
  signIn(email: string, password: string): Promise<WithCookies<{ accepted: boolean }>>;
  /** Who has the session of this Cookie header; undefined where there is none, or it has ended. */
  visitor(cookie: string | undefined): Promise<WithCookies<{ visitor: Visitor | undefined }>>;
  signOut(cookie: string | undefined): Promise<{ cookies: string[] }>;
  changePassword(member: Pick<Member, 'name' | 'email'>, password: string): Promise<void>;
  /** A token for /settings/password, good for one new password within 72 hours. */
  passwordLink(member: Pick<Member, 'name' | 'email'>): Promise<string>;
  /** The e-mail address that a link is for; undefined where it is spent, too old or none. */
  linkedEmail(token: string): Promise<string | undefined>;
  /** Sets the password by a link, ends the link and every session; undefined where the link is spent. */
  redeemLink(token: string, password: string): Promise<{ email: string } | undefined>;
};

type Options = {
  database: Database;
  /** Signs cookies: at least 32 characters. */
  secret: string;
  /** The service is reached over https, so that its cookies are for https only. */
  secure: boolean;
  /** Told what went wrong inside the library; never a password or a token. */
  onError?: (error: unknown) => void;
};

export function createSignIns({ database, secret, secure, onError = () => {} }: Options): SignIns {
  const auth = betterAuth(libraryOptions({ database, secret, secure, onError }));
  const headersWith = (cookie: string | undefined) => new Headers(cookie === undefined ? {} : { cookie });

  /** The library keeps what went wrong to itself; where the database is away, asking it anything says so. */
  async function explain(cause?: unknown): Promise<never> {
    await readSecret(database.pool);
    throw new Error('The sign-in library failed.', { cause });
  }

  async function signIn(email: string, password: string): ReturnType<SignIns['signIn']> {
    const { status, headers } = await auth.api.signInEmail({
      body: { email, password },
      headers: new Headers(),
      asResponse: true,
    });
    if (status >= 500) await explain();
    if (status !== 200) return { accepted: false, cookies: [] };
    await removeEnded(database.pool);
    return { accepted: true, cookies: headers.getSetCookie() };
  }

  async function visitor(cookie: string | undefined): ReturnType<SignIns['visitor']> {
    const answer = await auth.api.getSession({ headers: headersWith(cookie), returnHeaders: true }).catch(explain);
    const cookies = answer.headers?.getSetCookie() ?? [];
    if (!answer.response) return { visitor: undefined, cookies };
    const { session, user } = answer.response;
    const ageMs = Date.now() - session.createdAt.getTime();
    const known = ageMs < sessionSeconds.whole * 1000 ? await memberWithEmail(database.pool, user.email) : undefined;
    if (!known) return { visitor: undefined, ...(await signOut(cookie)) };
    const em = forOrganization(database, known.organizationId).em();
    const member = await em.findOneOrFail(Member, { id: known.id });
    const organization = await em.findOneOrFail(Organization, { id: known.organizationId });
    return { visitor: { member, organization, em, sessionId: session.id }, cookies };
  }

  async function signOut(cookie: string | undefined): Promise<{ cookies: string[] }> {
    const { headers } = await auth.api.signOut({ headers: headersWith(cookie), returnHeaders: true });
    return { cookies: headers?.getSetCookie() ?? [] };
  }

  async function userOf({ name, email }: Pick<Member, 'name' | 'email'>): Promise<string> {
    const { internalAdapter } = await auth.$context;
    const found = await internalAdapter.findUserByEmail(email.toLowerCase());
    const user =
      found?.user ??
      (await internalAdapter.createUser({ name, email, emailVerified: true }, { method: 'email-password' }));
    return user.id;
  }

  async function changePassword(member: Pick<Member, 'name' | 'email'>, password: string): Promise<void> {
    const fault = passwordFault(password);
    if (fault) throw new Error(`A password ${fault}.`);
    await redeemLink(await passwordLink(member), password);
  }

  async function passwordLink(member: Pick<Member, 'name' | 'email'>): Promise<string> {
    const { internalAdapter } = await auth.$context;
    const token = randomBytes(24).toString('base64url');
    const expiresAt = new Date(Date.now() + linkHours * 3_600_000);
    await internalAdapter.createVerificationValue({
      identifier: linkName(token),
      value: await userOf(member),
      expiresAt,
    });
    return token;
  }

  async function linkedEmail(token: string): Promise<string | undefined> {
    const { internalAdapter } = await auth.$context;
    const link = await internalAdapter.findVerificationValue(linkName(token));
    if (!link || link.expiresAt < new Date()) return undefined;
    return (await internalAdapter.findUserById(link.value))?.email;
  }

  async function redeemLink(token: string, password: string): Promise<{ email: string } | undefined> {
    const email = await linkedEmail(token);
    if (email === undefined) return undefined;
    const { status } = await auth.api.resetPassword({ body: { token, newPassword: password }, asResponse: true });
    if (status >= 500) await explain();
    return status === 200 ? { email } : undefined;
  }

  return { signIn, visitor, signOut, changePassword, passwordLink, linkedEmail, redeemLink };
}

/** For a command or a demo, which serve nobody: the password of a member, new or changed; its sessions end. */
export async function setPassword(
  database: Database,
  member: Pick<Member, 'name' | 'email'>,
  password: string,
): Promise<void> {
  await (await forCommands(database)).changePassword(member, password);
}

/** The path of a page on which this member chooses a password, once, within 72 hours. */
export async function passwordPath(database: Database, member: Pick<Member, 'name' | 'email'>): Promise<string> {
  return `/settings/password?token=${await (await forCommands(database)).passwordLink(member)}`;
}

/** Why a password cannot be taken, as the end of a sentence about it. */
export function passwordFault(password: string): string | undefined {
  if (password.length < passwordLength.least) return `must have at least ${passwordLength.least} characters`;
  if (password.length > passwordLength.most) return `must have at most ${passwordLength.most} characters`;
  if (new Set(password).size < 4) return 'must not repeat so few characters';
  return undefined;
}

const forCommands = async (database: Database) =>
  createSignIns({ database, secret: await readSecret(database.pool), secure: true });

/** The name under which the library's own resetPassword looks for a link. */
const linkName = (token: string) => `reset-password:${token}`;

function libraryOptions({ database, secret, secure, onError }: Required<Options>) {
  return {
    appName: 'Settings',
    // Only its functions are called; no address of the library's own is served.
    baseURL: 'http://localhost',
    secret,
    database: { db: signInTables(database.pool), type: 'postgres' },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: passwordLength.least,
      maxPasswordLength: passwordLength.most,
      revokeSessionsOnPasswordReset: true,
    },
    session: { expiresIn: sessionSeconds.idle, updateAge: renewSeconds },
    verification: { storeIdentifier: 'hashed' },
    telemetry: { enabled: false },
    advanced: {
      cookiePrefix: 'settings',
      useSecureCookies: secure,
      defaultCookieAttributes: { httpOnly: true, sameSite: 'lax', path: '/settings' },
      database: { generateId: 'uuid' },
    },
    logger: {
      level: 'error',
      log: (_, message, ...rest) => onError(rest.find((given) => given instanceof Error) ?? new Error(message)),
    },
  } as const satisfies BetterAuthOptions;
}
