/**
 * The second step of a sign-in with a password: a code, if two-factor authentication is on. Between the two steps there is
 * no session, only a signed cookie, valid for a few minutes or until one of the passwords changes.
 */
import { z } from 'zod';
import type { Secret } from '../text/signatures.ts';
import { admitCode, clearCodeAttempts } from './attempts.ts';
import type { CodeAttempt } from './attempts.ts';
import { markOf, readPasswords } from './credentials.ts';
import type { Credential } from './credentials.ts';
import { logOwn, membersWithEmail } from './member-lookup.ts';
import type { KnownMember } from './member-lookup.ts';
import { noteCookie, signedCookie } from './session-cookie.ts';
import type { NoteCookie } from './session-cookie.ts';
import { endSessions } from './sessions.ts';
import type { Device, SessionOwner } from './sessions.ts';
import { completeSignIn, logFailure, startNoted } from './sign-in-log.ts';
import type { SignInParts } from './sign-in-log.ts';
import { protect } from './two-factor.ts';
import type { App, Clock, TwoFactor } from './two-factor.ts';

export const codeSeconds = 600;

const begun = z.object({
  email: z.string(),
  userId: z.string(),
  memberIds: z.array(z.string()),
  passwords: z.string(),
  endsAtMs: z.number(),
});
type Begun = z.infer<typeof begun>;

/** Someone who entered the right password, or chose one through a link. */
export type FirstStep = { email: string; credentials: readonly Credential[] };
/** What the code page shows; `open` are the memberships that need no code. */
export type Pending = Pick<Begun, 'email' | 'userId' | 'memberIds'> & {
  credentials: Credential[];
  apps: App[];
  open: string[];
};
/** `recovered`: the names of the organizations that a recovery code opened. */
export type CodeResult =
  | { outcome: 'accepted'; cookies: string[]; email: string; recovered: string[] }
  | { outcome: 'wrong' }
  | { outcome: 'too_many'; waitSeconds: number }
  | { outcome: 'ended' };

type Parts = SignInParts & { twoFactor: TwoFactor; secret: Secret; secure: boolean; now: Clock };

type Attempt = { code: string; device: Device };

type Owner = SessionOwner & { credentials: readonly Credential[] };
const ownerOf = ({ userId, credentials }: Pending, memberIds: readonly string[]): Owner => ({
  userId,
  credentials: credentials.filter(({ memberId }) => memberIds.includes(memberId)),
});

export class SecondStep {
  readonly #parts: Parts;
  readonly #cookie: NoteCookie<Begun>;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#cookie = noteCookie(signedCookie(parts, 'settings.second_step', '/settings/sign-in'), begun);
  }

  /**
   * Starts the session, or remembers the first step in a cookie if a code is needed. Undefined if the first step no longer
   * suffices: see startSession().
   */
  async begin(
    { email, credentials }: FirstStep,
    device: Device,
  ): Promise<{ cookies: string[]; needsCode: boolean } | undefined> {
    const { twoFactor, now } = this.#parts;
    const memberIds = credentials.map(({ memberId }) => memberId);
    const userId = credentials[0]?.userId ?? '';
    if ((await twoFactor.read(memberIds)).length === 0) {
      const cookies = await completeSignIn(this.#parts, { email, owner: { userId, credentials }, device });
      return cookies && { cookies, needsCode: false };
    }
    const endsAtMs = (await now()) + codeSeconds * 1000;
    const note = { email, userId, memberIds, passwords: markOf(credentials), endsAtMs };
    return { cookies: [this.#cookie.set(note, codeSeconds)], needsCode: true };
  }

  /** The sign-in that waits for a code; undefined if there is none or it has ended. */
  async pending(header: string | undefined): Promise<Pending | undefined> {
    const { database, twoFactor, now } = this.#parts;
    const value = this.#cookie.read(header);
    if (!value) return undefined;
    const { passwords, endsAtMs, ...first } = value;
    if (endsAtMs <= (await now())) return undefined;
    const credentials = await readPasswords(database.signIns, first.memberIds);
    if (markOf(credentials) !== passwords) return undefined;
    const apps = await twoFactor.read(first.memberIds);
    const isOpen = (id: string) => !apps.some(({ memberId }) => memberId === id);
    return apps.length === 0 ? undefined : { ...first, credentials, apps, open: first.memberIds.filter(isOpen) };
  }

  async finish(header: string | undefined, { code, device }: Attempt): Promise<CodeResult> {
    const { database, devices } = this.#parts;
    const first = await this.pending(header);
    if (!first) return { outcome: 'ended' };
    const { apps } = first;
    const knownDevice = devices.known(header, first.email);
    const distinct = apps.filter(({ id }, at) => apps.findIndex((app) => app.id === id) === at);
    const waits: number[] = [];
    for (const app of distinct) {
      const attempt = { appId: app.id, device: knownDevice };
      const wait = await admitCode(database.signIns, attempt);
      waits.push(wait);
      if (wait > 0) continue;
      const own = apps.flatMap(({ id, memberId }) => (id === app.id ? [memberId] : []));
      const entered = await this.#enter(first, { app, own, code, device, attempt });
      if (entered) return entered;
    }
    const waitSeconds = Math.min(...waits);
    if (waitSeconds > 0) return { outcome: 'too_many', waitSeconds };
    const members = await membersWithEmail(database.signIns, first.email);
    await logFailure(database, among(members, first.memberIds), { ipAddress: device.ipAddress, reason: 'code' });
    return { outcome: 'wrong' };
  }

  /** Without a code: opens only the memberships that need none. */
  async finishWithout(header: string | undefined, device: Device): Promise<CodeResult> {
    const first = await this.pending(header);
    if (!first || first.open.length === 0) return { outcome: 'ended' };
    const owner = ownerOf(first, first.open);
    return this.#result(first, await completeSignIn(this.#parts, { email: first.email, owner, device }), []);
  }

  /**
   * Starts the session if the code is right, and extends the app to the memberships that needed no code, whose sessions
   * end. All in one transaction, so no code is used up without a session.
   */
  async #enter(
    first: Pending,
    { app, own, code, device, attempt }: Attempt & { app: App; own: string[]; attempt: CodeAttempt },
  ): Promise<CodeResult | undefined> {
    const entered = { userId: first.userId, typed: code };
    return this.#parts.twoFactor.confirm(app, entered, async (client, { isRecovery }) => {
      await clearCodeAttempts(client, attempt);
      const protectedIds = await protect(client, app, first.open);
      await endSessions(client, protectedIds, { except: null });
      const members = await membersWithEmail(client, first.email);
      await logOwn(client, among(members, protectedIds), { action: 'two_factor_turned_on' });
      const opened = [...own, ...protectedIds];
      const recovered = isRecovery ? among(members, opened) : [];
      await logOwn(client, recovered, { action: 'recovery_code_used' });
      const owner = { ...ownerOf(first, opened), isCoded: true };
      const cookies = await startNoted(client, this.#parts, { email: first.email, owner, device });
      return this.#result(first, cookies, recovered);
    });
  }

  /** `cookies` is undefined if a password has changed in the meantime. */
  #result({ email }: Pending, cookies: string[] | undefined, recovered: readonly KnownMember[]): CodeResult {
    if (!cookies) return { outcome: 'ended' };
    const names = recovered.map(({ organizationName }) => organizationName);
    return { outcome: 'accepted', cookies: [...cookies, this.#cookie.clear()], email, recovered: names };
  }
}

const among = (members: readonly KnownMember[], ids: readonly string[]) => members.filter(({ id }) => ids.includes(id));
