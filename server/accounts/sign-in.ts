/** Signing in with e-mail address and password: sessions, password links, and the member that each belongs to. */
import { randomBytes } from 'node:crypto';
import { betterAuth } from 'better-auth';
import type { Database } from '../database/orm.ts';
import { forOrganization } from '../database/tenant.ts';
import type { ScopedEntityManager } from '../database/tenant.ts';
import { Member, Organization } from '../entities/organization.ts';
import { Problem } from '../problems/problem.ts';
import { ipHeader, libraryOptions, sessionSeconds } from './library.ts';
import type { LibraryParts } from './library.ts';
import { passwordProblem } from './passwords.ts';
import { endPasswordLinks, memberWithEmail, readSecret } from './sign-in-tables.ts';

export const linkHours = 72;

export type Visitor = {
  member: Member;
  organization: Organization;
  /** Bound to the member's organization. */
  em: ScopedEntityManager;
  /** What CSRF tokens are bound to; it is not the session's token. */
  sessionId: string;
};

/** Where a sign-in comes from, for the list of sessions. */
export type Device = { ipAddress: string; userAgent: string };
type Person = Pick<Member, 'name' | 'email'>;
/** `cookies` are values of Set-Cookie for the response. */
type WithCookies<T> = T & { cookies: string[] };

export type SignIns = {
  /** Whether the password is the member's. Does the same work if there is no such member. */
  signIn(email: string, password: string, device: Device): Promise<WithCookies<{ accepted: boolean }>>;
  /** The member whose session is in this Cookie header; undefined if there is none or it has ended. */
  visitor(cookie: string | undefined): Promise<WithCookies<{ visitor: Visitor | undefined }>>;
  signOut(cookie: string | undefined): Promise<{ cookies: string[] }>;
  /** Ends every other session and every password link; rejected if the current password is wrong. */
  changeOwnPassword(
    cookie: string | undefined,
    passwords: { current: string; next: string },
    device: Device,
  ): Promise<WithCookies<{ accepted: boolean }>>;
  choosePassword(person: Person, password: string): Promise<void>;
  /** A token for /settings/password that sets one new password; tokens issued before it stop working. */
  passwordLink(person: Person, hours?: number): Promise<string>;
  /** The e-mail address that a link is for; undefined if it was used, has expired or was never issued. */
  linkedEmail(token: string): Promise<string | undefined>;
  /** Sets the password by a link, and ends every link and session; undefined if the link no longer works. */
  redeemLink(token: string, password: string): Promise<{ email: string } | undefined>;
};

type Parts = Omit<LibraryParts, 'pool' | 'onError'> & { database: Database; onError?: (error: unknown) => void };

export function createSignIns({ database, secret, secure, onError = () => {} }: Parts): SignIns {
  const { pool } = database;
  const auth = betterAuth(libraryOptions({ pool, secret, secure, onError }));

  /** The library hides the cause, so a statement of our own finds out whether the database is unreachable. */
  async function explain(cause?: unknown): Promise<never> {
    await readSecret(pool);
    throw new Error('The sign-in library failed.', { cause });
  }

  async function signIn(email: string, password: string, device: Device): ReturnType<SignIns['signIn']> {
    const headers = headersOf(undefined, device);
    const response = await auth.api.signInEmail({ body: { email, password }, headers, asResponse: true });
    if (response.status >= 500) await explain();
    const accepted = response.status === 200;
    return { accepted, cookies: accepted ? response.headers.getSetCookie() : [] };
  }

  async function visitor(cookie: string | undefined): ReturnType<SignIns['visitor']> {
    const found = await auth.api.getSession({ headers: headersOf(cookie), returnHeaders: true }).catch(explain);
    const cookies = found.headers?.getSetCookie() ?? [];
    if (!found.response) return { visitor: undefined, cookies };
    const { session, user } = found.response;
    const ageMs = Date.now() - session.createdAt.getTime();
    const known = ageMs < sessionSeconds.whole * 1000 ? await memberWithEmail(pool, user.email) : undefined;
    if (!known) return { visitor: undefined, ...(await signOut(cookie)) };
    const em = forOrganization(database, known.organizationId).em();
    const member = await em.findOneOrFail(Member, { id: known.id });
    const organization = await em.findOneOrFail(Organization, { id: known.organizationId });
    return { visitor: { member, organization, em, sessionId: session.id }, cookies };
  }

  async function signOut(cookie: string | undefined): Promise<{ cookies: string[] }> {
    const { headers } = await auth.api.signOut({ headers: headersOf(cookie), returnHeaders: true });
    return { cookies: headers?.getSetCookie() ?? [] };
  }

  async function changeOwnPassword(
    ...[cookie, { current, next }, device]: Parameters<SignIns['changeOwnPassword']>
  ): ReturnType<SignIns['changeOwnPassword']> {
    const response = await auth.api.changePassword({
      body: { currentPassword: current, newPassword: next, revokeOtherSessions: true },
      headers: headersOf(cookie, device),
      asResponse: true,
    });
    if (response.status >= 500) await explain();
    if (response.status !== 200) return { accepted: false, cookies: [] };
    const { user } = (await response.json()) as { user: { id: string } };
    await endPasswordLinks(pool, user.id);
    return { accepted: true, cookies: response.headers.getSetCookie() };
  }

  async function choosePassword(person: Person, password: string): Promise<void> {
    const problem = await passwordProblem(password);
    if (problem) throw new Problem('password', { sentence: problem });
    await redeemLink(await passwordLink(person), password);
  }

  async function passwordLink(person: Person, hours = linkHours): Promise<string> {
    const { internalAdapter } = await auth.$context;
    const token = randomBytes(24).toString('base64url');
    const userId = await userOf(internalAdapter, person);
    await endPasswordLinks(pool, userId);
    const expiresAt = new Date(Date.now() + hours * 3_600_000);
    await internalAdapter.createVerificationValue({ identifier: linkName(token), value: userId, expiresAt });
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

  return { signIn, visitor, signOut, changeOwnPassword, choosePassword, passwordLink, linkedEmail, redeemLink };
}

function headersOf(cookie: string | undefined, device?: Device): Headers {
  return new Headers({
    ...(cookie !== undefined && { cookie }),
    ...(device && { [ipHeader]: device.ipAddress, 'user-agent': device.userAgent.slice(0, 300) }),
  });
}

type Users = Awaited<ReturnType<typeof betterAuth>['$context']>['internalAdapter'];

/** The library's own record of a member, created when it is first needed. */
export async function userOf(users: Users, { name, email }: Person): Promise<string> {
  const found = await users.findUserByEmail(email.toLowerCase());
  const fields = { name, email: email.toLowerCase(), emailVerified: true };
  return (found?.user ?? (await users.createUser(fields, { method: 'email-password' }))).id;
}

/** For a command or the demo: sets a member's password, and ends the member's sessions. */
export async function setPassword(database: Database, person: Person, password: string): Promise<void> {
  await (await forCommands(database)).choosePassword(person, password);
}

/** The path of a page on which this member chooses a password, once, within 72 hours. */
export async function passwordPath(database: Database, person: Person): Promise<string> {
  return pathOfLink(await (await forCommands(database)).passwordLink(person));
}

export const pathOfLink = (token: string): string => `/settings/password?token=${token}`;

const forCommands = async (database: Database) =>
  createSignIns({ database, secret: await readSecret(database.pool), secure: true });

/** The name under which the library's own resetPassword looks for a link. */
const linkName = (token: string) => `reset-password:${token}`;
