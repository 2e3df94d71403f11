/**
 * The second step of a sign-in with a password: a code, if two-factor authentication is on. Between the two steps there is
 * no session, only a signed cookie of this browser. It ends after some minutes, and with any change of these passwords.
 */
import { hash } from 'node:crypto';
import { z } from 'zod';
import type { Database } from '../database/orm.ts';
import type { Secret } from '../text/signatures.ts';
import { admitCode, forgiveCode } from './attempts.ts';
import { readPasswords } from './credentials.ts';
import type { Credential } from './credentials.ts';
import { membersWithEmail } from './member-lookup.ts';
import { signedCookie } from './session-cookie.ts';
import { endSessions } from './sessions.ts';
import type { Device } from './sessions.ts';
import { admit, logFailure, logOwn } from './sign-in-log.ts';
import type { SignIns } from './sign-in.ts';
import type { Clock, TwoFactor } from './two-factor.ts';

export const codeSeconds = 600;

const begun = z.object({
  email: z.string(),
  userId: z.string(),
  memberIds: z.array(z.string()),
  next: z.string(),
  passwords: z.string(),
  endsAtMs: z.number(),
});
type Begun = z.infer<typeof begun>;

/** Someone who gave the right password, or chose it by a link. */
export type FirstStep = {
  email: string;
  credentials: readonly Credential[];
  /** Where to go after the sign-in. */
  next: string;
};
/** What the page for the code says; `open` are the memberships that need none. */
export type Pending = Pick<Begun, 'email' | 'next' | 'userId' | 'memberIds'> & { open: string[] };
/** `recovered`: the names of the organizations that a recovery code opened. */
export type CodeResult =
  | { outcome: 'accepted'; cookies: string[]; email: string; next: string; recovered: string[] }
  | { outcome: 'wrong'; pending: Pending }
  | { outcome: 'too_many'; pending: Pending; waitSeconds: number }
  | { outcome: 'ended' };

export type SecondStep = {
  /** Starts the session, or remembers the first step in a cookie if a code is needed. */
  begin(first: FirstStep, device: Device): Promise<{ cookies: string[]; needsCode: boolean }>;
  /** Undefined if there is no such sign-in, or it has ended. */
  pending(cookie: string | undefined): Promise<Pending | undefined>;
  /** `knownDevice` is a browser that has signed in to this account before. */
  finish(
    cookie: string | undefined,
    attempt: { code: string; device: Device; knownDevice(email: string): string | undefined },
  ): Promise<CodeResult>;
  /** Without a code: opens the memberships that need none. */
  finishWithout(cookie: string | undefined, device: Device): Promise<CodeResult>;
};

type Parts = {
  database: Database;
  signIns: SignIns;
  twoFactor: TwoFactor;
  secret: Secret;
  secure: boolean;
  now: Clock;
};

export function createSecondStep({ database, signIns, twoFactor, now, ...signing }: Parts): SecondStep {
  const pool = database.signIns;
  const cookie = signedCookie(signing, 'settings.second_step', '/settings/sign-in');
  const open = async (
    { email, userId, next }: Omit<Pending, 'open' | 'memberIds'>,
    memberIds: string[],
    { device, recovered = [] }: { device: Device; recovered?: string[] },
  ): Promise<CodeResult> => {
    const { cookies } = await admit({ database, signIns }, { email, admitted: { userId, memberIds }, device });
    return { outcome: 'accepted', cookies: [...cookies, cookie.clear()], email, next, recovered };
  };

  const members = async (email: string, memberIds: readonly string[]) =>
    (await membersWithEmail(pool, email)).filter(({ id }) => memberIds.includes(id));

  async function begin({ email, credentials, next }: FirstStep, device: Device): ReturnType<SecondStep['begin']> {
    const memberIds = credentials.map(({ memberId }) => memberId);
    const userId = credentials[0]?.userId ?? '';
    if ((await twoFactor.read(memberIds)).length === 0) {
      const { cookies } = await admit({ database, signIns }, { email, admitted: { userId, memberIds }, device });
      return { cookies, needsCode: false };
    }
    const endsAtMs = (await now()) + codeSeconds * 1000;
    const value: Begun = { email, userId, memberIds, next, passwords: markOf(credentials), endsAtMs };
    const text = Buffer.from(JSON.stringify(value)).toString('base64url');
    return { cookies: [cookie.set(text, codeSeconds)], needsCode: true };
  }

  async function pending(header: string | undefined): ReturnType<SecondStep['pending']> {
    const value = readBegun(cookie.read(header));
    if (!value) return undefined;
    const { passwords, endsAtMs, ...first } = value;
    if (endsAtMs <= (await now()) || markOf(await readPasswords(pool, first.memberIds)) !== passwords) return undefined;
    const apps = await twoFactor.read(first.memberIds);
    const isOpen = (id: string) => !apps.some(({ memberId }) => memberId === id);
    return apps.length === 0 ? undefined : { ...first, open: first.memberIds.filter(isOpen) };
  }

  async function finish(
    header: string | undefined,
    { code, device, knownDevice }: Parameters<SecondStep['finish']>[1],
  ): Promise<CodeResult> {
    const first = await pending(header);
    if (!first) return { outcome: 'ended' };
    const attempt = { userId: first.userId, device: knownDevice(first.email) };
    const waitSeconds = await admitCode(pool, attempt);
    if (waitSeconds > 0) return { outcome: 'too_many', pending: first, waitSeconds };
    const apps = await twoFactor.read(first.memberIds);
    const distinct = apps.filter(({ id }, at) => apps.findIndex((app) => app.id === id) === at);
    for (const app of distinct) {
      const accepted = await twoFactor.accept(app, code);
      if (!accepted) continue;
      await forgiveCode(pool, attempt);
      const covered = await twoFactor.cover(app, first.open);
      // From now on, none of these has a session without a code.
      for (const id of covered) await endSessions(pool, id, { except: null });
      const own = apps.flatMap(({ id, memberId }) => (id === app.id ? [memberId] : []));
      const memberIds = [...own, ...covered];
      await logOwn(database, await members(first.email, covered), { action: 'two_factor_turned_on' });
      const recovered = accepted.isRecovery ? await members(first.email, memberIds) : [];
      await logOwn(database, recovered, { action: 'recovery_code_used' });
      return open(first, memberIds, { device, recovered: recovered.map((member) => member.organizationName) });
    }
    const failed = await members(first.email, first.memberIds);
    await logFailure(database, failed, { ipAddress: device.ipAddress, reason: 'code' });
    return { outcome: 'wrong', pending: first };
  }

  async function finishWithout(header: string | undefined, device: Device): Promise<CodeResult> {
    const first = await pending(header);
    return first && first.open.length > 0 ? open(first, first.open, { device }) : { outcome: 'ended' };
  }

  return { begin, pending, finish, finishWithout };
}

/** Undefined also for what another cookie of this service holds, with its signature. */
function readBegun(value = ''): Begun | undefined {
  try {
    return begun.safeParse(JSON.parse(Buffer.from(value, 'base64url').toString('utf8'))).data;
  } catch {
    return undefined;
  }
}

/** Tells apart whether any of these passwords has changed since. */
const markOf = (credentials: readonly Pick<Credential, 'memberId' | 'password'>[]): string =>
  hash(
    'sha256',
    JSON.stringify(credentials.map(({ memberId, password }) => `${memberId} ${password}`).toSorted()),
    'base64url',
  );
