/** Signing in with email address and password, and the member that a session belongs to. */
import type { Database } from '../database/orm.ts';
import { forOrganization } from '../database/tenant.ts';
import type { ScopedEntityManager } from '../database/tenant.ts';
import { inTransaction } from '../database/transaction.ts';
import { Member, Organization } from '../entities/organization.ts';
import type { Secret } from '../text/signatures.ts';
import { arePasswordsCurrent } from './credentials.ts';
import type { Credential } from './credentials.ts';
import { choosePassword } from './password-links.ts';
import { hashPassword } from './passwords.ts';
import { sessionCookieName, signedCookie } from './session-cookie.ts';
import type { SignedCookie } from './session-cookie.ts';
import { chooseOrganization, endSession, readSession, sessionSeconds } from './sessions.ts';
import type { Membership, OpenSession } from './sessions.ts';
import { logOwn } from './member-lookup.ts';

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

type Parts = { database: Database; secret: Secret; secure: boolean };

const rememberedSeconds = 180 * 86_400;

/** `cookies` are Set-Cookie values for the response. */
export class SignIns {
  readonly #database: Database;
  readonly #cookie: SignedCookie;
  /** The organization that was chosen last in this browser. */
  readonly #chosen: SignedCookie;

  constructor({ database, ...signing }: Parts) {
    this.#database = database;
    this.#cookie = signedCookie(signing, sessionCookieName);
    this.#chosen = signedCookie(signing, 'settings.organization');
  }

  /** For a session that has just been started or renewed. */
  cookieFor(token: string): string {
    return this.#cookie.set(token, sessionSeconds.idle);
  }

  /** The member whose session is in this Cookie header; undefined if there is none or it has ended. */
  async visitor(header: string | undefined): Promise<{ visitor: Visitor | undefined; cookies: string[] }> {
    const token = this.#cookie.read(header);
    if (token === undefined) return { visitor: undefined, cookies: [] };
    const session = await readSession(this.#database.signIns, token);
    const membership = session && currentOf(session, this.#chosen.read(header));
    if (!membership) return { visitor: undefined, ...(await this.signOut(header)) };
    const em = forOrganization(this.#database, membership.organizationId).em();
    const member = await em.findOneOrFail(Member, { id: membership.memberId });
    const organization = await em.findOneOrFail(Organization, { id: membership.organizationId });
    const { id: sessionId, userId, memberships, isSingleSignOn } = session;
    const { hasTwoFactor } = membership;
    return {
      visitor: { member, organization, em, sessionId, userId, memberships, isSingleSignOn, hasTwoFactor },
      cookies: session.isRenewed ? [this.cookieFor(token)] : [],
    };
  }

  /** Switches to one of the session's organizations, which the next session in this browser also opens first. */
  async switchTo({ sessionId }: Visitor, { organizationId }: Membership): Promise<string> {
    await chooseOrganization(this.#database.signIns, sessionId, organizationId);
    return this.#chosen.set(organizationId, rememberedSeconds);
  }

  async signOut(header: string | undefined): Promise<{ cookies: string[] }> {
    const token = this.#cookie.read(header);
    if (token !== undefined) await endSession(this.#database.signIns, token);
    return { cookies: [this.#cookie.clear()] };
  }

  /**
   * Changes the passwords of memberships that the session opens, and ends their other sessions and their links. False if
   * one of the passwords has changed since it was checked.
   */
  async changePasswords(
    { memberships, sessionId }: Visitor,
    credentials: readonly Credential[],
    { password, ipAddress }: { password: string; ipAddress: string },
  ): Promise<boolean> {
    const hash = await hashPassword(password);
    const changed = credentials.filter((one) => memberships.some(({ memberId }) => memberId === one.memberId));
    return inTransaction(this.#database.signIns, async (client) => {
      if (!(await arePasswordsCurrent(client, changed))) return false;
      await choosePassword(client, changed, { hash, except: sessionId });
      const members = changed.map(({ memberId: id, organizationId }) => ({ id, organizationId }));
      await logOwn(client, members, { action: 'password_changed', ipAddress });
      return true;
    });
  }
}

/** The organization chosen last in this session, or else in this browser, or else the first. */
const currentOf = ({ memberships, organizationId }: OpenSession, chosen: string | undefined): Membership | undefined =>
  memberships.find((one) => one.organizationId === (organizationId ?? chosen)) ?? memberships[0];
