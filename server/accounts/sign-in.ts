/** Signing in with email address and password, and the member that a session belongs to. */
import type { Database } from '../database/orm.ts';
import { forOrganization } from '../database/tenant.ts';
import type { ScopedEntityManager } from '../database/tenant.ts';
import { Member, Organization } from '../entities/organization.ts';
import { hashPassword } from './passwords.ts';
import { matchPassword, storePassword } from './credentials.ts';
import type { Credential } from './credentials.ts';
import { endLinks } from './password-links.ts';
import { sessionCookieName, signedCookie } from './session-cookie.ts';
import { endSession, endSessions, readSession, sessionSeconds, startSession } from './sessions.ts';
import type { Device, Membership, OpenSession } from './sessions.ts';
import type { Secret } from '../text/signatures.ts';

export type Visitor = {
  member: Member;
  organization: Organization;
  /** Bound to the member's organization. */
  em: ScopedEntityManager;
  /** What CSRF tokens are bound to; it is not the session's token. */
  sessionId: string;
  userId: string;
  isSingleSignOn: boolean;
  /** Whether two-factor authentication is on for this member. */
  hasTwoFactor: boolean;
  /** Every membership that the session opens. */
  memberships: Membership[];
};

/** `cookies` are values of Set-Cookie for the response. */
type WithCookies<T> = T & { cookies: string[] };
/** Whom a session is for; `memberIds` is null if the address itself was proven, and not a password. */
export type Admitted = { userId: string; memberIds: string[] | null };

export type SignIns = {
  /** The memberships whose password this is. Does the same work if there is none. */
  check(email: string, password: string): Promise<Credential[]>;
  start(admitted: Admitted, device: Device): Promise<{ cookies: string[] }>;
  /** The member whose session is in this Cookie header; undefined if there is none or it has ended. */
  visitor(cookie: string | undefined): Promise<WithCookies<{ visitor: Visitor | undefined }>>;
  signOut(cookie: string | undefined): Promise<{ cookies: string[] }>;
  /** Ends every other session and every password link; false if the current password is wrong. */
  changeOwnPassword(visitor: Visitor, passwords: { current: string; next: string }): Promise<boolean>;
};

type Parts = { database: Database; secret: Secret; secure: boolean };

export function createSignIns({ database, secret, secure }: Parts): SignIns {
  const { signIns: pool } = database;
  const cookie = signedCookie({ secret, secure }, sessionCookieName);

  async function start(admitted: Admitted, device: Device): ReturnType<SignIns['start']> {
    const token = await startSession(pool, { ...admitted, device });
    return { cookies: [cookie.set(token, sessionSeconds.idle)] };
  }

  async function visitor(header: string | undefined): ReturnType<SignIns['visitor']> {
    const token = cookie.read(header);
    if (token === undefined) return { visitor: undefined, cookies: [] };
    const session = await readSession(pool, token);
    const membership = session && currentOf(session);
    if (!membership) return { visitor: undefined, ...(await signOut(header)) };
    const em = forOrganization(database, membership.organizationId).em();
    const member = await em.findOneOrFail(Member, { id: membership.memberId });
    const organization = await em.findOneOrFail(Organization, { id: membership.organizationId });
    const { id: sessionId, userId, memberships, isSingleSignOn } = session;
    const { hasTwoFactor } = membership;
    const cookies = session.isRenewed ? [cookie.set(token, sessionSeconds.idle)] : [];
    return {
      visitor: { member, organization, em, sessionId, userId, memberships, isSingleSignOn, hasTwoFactor },
      cookies,
    };
  }

  async function signOut(header: string | undefined): Promise<{ cookies: string[] }> {
    const token = cookie.read(header);
    if (token !== undefined) await endSession(pool, token);
    return { cookies: [cookie.clear()] };
  }

  async function changeOwnPassword(
    { member, memberships, sessionId }: Visitor,
    { current, next }: { current: string; next: string },
  ): Promise<boolean> {
    const right = await matchPassword(pool, member.email, current);
    if (!right.some(({ memberId }) => memberId === member.id)) return false;
    const hash = await hashPassword(next);
    for (const { memberId, userId } of right) {
      if (!memberships.some((one) => one.memberId === memberId)) continue;
      await storePassword(pool, { userId, memberId, hash });
      await endLinks(pool, { userId, memberId });
      await endSessions(pool, memberId, { except: sessionId });
    }
    return true;
  }

  return {
    check: (email, password) => matchPassword(pool, email, password),
    start,
    visitor,
    signOut,
    changeOwnPassword,
  };
}

/** The organization chosen last, or else the first. */
const currentOf = ({ memberships, organizationId }: OpenSession): Membership | undefined =>
  memberships.find((one) => one.organizationId === organizationId) ?? memberships[0];
