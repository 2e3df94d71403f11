/** Sessions: who is signed in, from where, and for which of the person's memberships. All times are the database's. */
import { hash, randomBytes } from 'node:crypto';
import pg from 'pg';
import type { Member } from '../entities/organization.ts';
import { arePasswordsCurrent, lockPasswords } from './credentials.ts';
import type { Credential } from './credentials.ts';
import { readApps } from './two-factor.ts';

/** A session ends after two hours without a request, and twelve hours after the sign-in at the latest. */
export const sessionSeconds = { idle: 2 * 3600, whole: 12 * 3600 };
/** A session is renewed at most this often. */
const renewSeconds = 300;

/** Where a sign-in comes from, for the list of sessions. */
export type Device = { ipAddress: string; userAgent: string };
/** A membership that a session opens. */
export type Membership = Pick<Member, 'organizationId'> & {
  memberId: string;
  organizationName: string;
  hasTwoFactor: boolean;
};
export type OpenSession = {
  id: string;
  userId: string;
  /** The organization chosen last; null until one is chosen. */
  organizationId: string | null;
  memberships: Membership[];
  /** If so, a second factor is up to the provider. */
  isSingleSignOn: boolean;
  isRenewed: boolean;
};

/** Only hashes of tokens are stored, so a copy of the database cannot be used to sign in. */
const hashOfToken = (token: string) => hash('sha256', token, 'base64url');

/** Whether the session `s` is still valid. */
const isLive = `s."expiresAt" > now() and s."createdAt" > now() - interval '${sessionSeconds.whole} seconds'`;
/**
 * Which memberships `m` the session `s` opens: those whose password was entered. Without a list, single sign-on proved the
 * address itself, and the session opens those that existed at the time; those from the future were created before the clock
 * was set back. Either way, not those it was ended for.
 */
const opens = `m.removed_at is null and m.id <> all(s."endedFor")
  and (m.id = any(s."memberIds") or (s."memberIds" is null
    and (m.created_at <= s."createdAt" or m.created_at > now() + interval '1 minute')))`;

/**
 * The person a session is for; `credentials` is null if the address itself was proven, rather than a password, and
 * `isCoded` if a code was accepted as well.
 */
export type SessionOwner = { userId: string; credentials: readonly Credential[] | null; isCoded?: boolean };

/**
 * Returns the session's token, which only the browser keeps; undefined if a password has changed since it was checked, or
 * now needs a code. Runs in a transaction.
 */
export async function startSession(
  client: Pick<pg.Pool, 'query'>,
  { userId, credentials, isCoded }: SessionOwner,
  device: Device,
): Promise<string | undefined> {
  const memberIds = credentials && credentials.map(({ memberId }) => memberId);
  if (!credentials) await lockPasswords(client, [{ userId }]);
  if (credentials && !(await arePasswordsCurrent(client, credentials))) return undefined;
  if (memberIds && !isCoded && (await readApps(client, memberIds)).length > 0) return undefined;
  const token = randomBytes(24).toString('base64url');
  await client.query(
    `insert into sign_in."session" ("userId", token, "memberIds", "ipAddress", "userAgent", "expiresAt", "updatedAt")
     values ($1, $2, $3, $4, $5, now() + interval '${sessionSeconds.idle} seconds', now())`,
    [userId, hashOfToken(token), memberIds, device.ipAddress, device.userAgent.slice(0, 300)],
  );
  return token;
}

const selectSession = `select s.id, s."userId", s."organizationId" as current, m.id as "memberId",
    m.organization_id as "organizationId", o.name as "organizationName",
    exists (select from sign_in.two_factor_members t where t.member_id = m.id) as "hasTwoFactor",
    s."memberIds" is null as "isSingleSignOn",
    s."expiresAt" < now() + interval '${sessionSeconds.idle - renewSeconds} seconds' as "isStale"
  from sign_in."session" s join sign_in."user" u on u.id = s."userId"
    left join members m on m.email_key = u.email and ${opens}
    left join organizations o on o.id = m.organization_id
  where s.token = $1 and ${isLive} order by m.created_at, m.id`;

type Found = Membership &
  Pick<OpenSession, 'id' | 'userId' | 'isSingleSignOn'> & { current: string | null; isStale: boolean };

/** The session of this token; undefined if it has ended. Renews it if its last renewal was five minutes ago or more. */
export async function readSession(pool: pg.Pool, token: string): Promise<OpenSession | undefined> {
  const { rows } = await pool.query<Found>(selectSession, [hashOfToken(token)]);
  const [first] = rows;
  if (!first) return undefined;
  const { id, userId, current, isSingleSignOn, isStale } = first;
  if (isStale) await renew(pool, id);
  const memberships = rows.filter(({ memberId }) => memberId !== null);
  return { id, userId, organizationId: current, memberships, isSingleSignOn, isRenewed: isStale };
}

async function renew(pool: pg.Pool, id: string): Promise<void> {
  const text = `update sign_in."session" set "expiresAt" = now() + interval '${sessionSeconds.idle} seconds', "updatedAt" = now() where id = $1`;
  await pool.query(text, [id]);
}

/** Switches the session to one of the organizations that it opens. */
export async function chooseOrganization(pool: pg.Pool, sessionId: string, organizationId: string): Promise<void> {
  await pool.query('update sign_in."session" set "organizationId" = $2 where id = $1', [sessionId, organizationId]);
}

export async function endSession(pool: pg.Pool, token: string): Promise<void> {
  await pool.query('delete from sign_in."session" where token = $1', [hashOfToken(token)]);
}

export type Session = {
  id: string;
  createdAt: Date;
  updatedAt: Date;
  ipAddress: string | null;
  userAgent: string | null;
};

/** The sessions that open one of these memberships. */
const ofMembers = `sign_in."session" s join sign_in."user" u on u.id = s."userId" join members m on m.email_key = u.email
  where m.id = any($1) and ${opens}`;

export async function readSessions(pool: pg.Pool, memberId: string): Promise<Session[]> {
  const { rows } = await pool.query<Session>({
    text: `select s.id, s."createdAt", s."updatedAt", s."ipAddress", s."userAgent" from ${ofMembers} and ${isLive}
      order by s."updatedAt" desc, s.id limit 100`,
    values: [[memberId]],
    types: pg.types,
  });
  return rows;
}

/**
 * Ends one session, all but one, or all, for these memberships; returns how many. A session's other memberships stay open:
 * each organization decides for itself. A session that no longer opens any ends with its next request.
 */
export async function endSessions(
  pool: Pick<pg.Pool, 'query'>,
  memberIds: readonly string[],
  which: { only: string } | { except: string | null },
): Promise<number> {
  const condition = 'only' in which ? 's.id = $2' : 's.id is distinct from $2';
  const id = 'only' in which ? which.only : which.except;
  const text = `update sign_in."session" set "endedFor" = "endedFor" || $1::uuid[]
    where id in (select s.id from ${ofMembers} and ${condition})`;
  const { rowCount } = await pool.query(text, [memberIds, id]);
  return rowCount ?? 0;
}
