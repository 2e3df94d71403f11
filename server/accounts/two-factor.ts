/**
 * Two-factor authentication. It belongs to memberships, as passwords do: turning it on or off, or resetting it, in one of a
 * person's organizations changes nothing in the others. One app protects all memberships that a session opens.
 */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { Database } from '../database/orm.ts';
import { executeIn } from '../database/tenant.ts';
import type { ScopedEntityManager } from '../database/tenant.ts';
import { inTransaction } from '../database/transaction.ts';
import { Problem } from '../problems/problem.ts';
import { createSeal } from '../text/seal.ts';
import type { Seal } from '../text/seal.ts';
import type { Secret } from '../text/signatures.ts';
import { lockPasswords } from './credentials.ts';
import type { Connection } from './credentials.ts';
import { hashOfRecoveryCode, newRecoveryCodes, newSecret, stepOf } from './authenticator.ts';

/** An app that protects a membership. */
export type App = { id: string; memberId: string; sealedSecret: string; codesLeft: number; createdAt: string };
/** A secret that was shown but not yet confirmed with a code; `sealed` is for the form. */
type Offer = { secret: string; sealed: string };
/** Memberships of one person. */
type Protected = { userId: string; memberIds: readonly string[] };

/** In milliseconds, the same in every process. */
export type Clock = () => number | Promise<number>;
type Parts = { database: Pick<Database, 'signIns'>; secret: Secret; now: Clock };

const selectApps = `select f.id, t.member_id as "memberId", f.sealed_secret as "sealedSecret", f.created_at::text as "createdAt",
    cardinality(f.recovery_hashes) as "codesLeft"
  from sign_in.two_factor_members t join sign_in.two_factor f on f.id = t.two_factor_id
  where t.member_id = any($1) order by f.created_at, f.id`;

/** The apps of these memberships. */
export const readApps = async (pool: Connection, memberIds: readonly string[]): Promise<App[]> =>
  (await pool.query<App>(selectApps, [memberIds])).rows;

const insertProtected = `insert into sign_in.two_factor_members select unnest($2::uuid[]), $1
  on conflict (member_id) do nothing returning member_id as id`;

/** Also deletes an app that no longer protects anything. */
const ending = (members: string) => `with ended as (
    delete from sign_in.two_factor_members where ${members} returning member_id, two_factor_id
  ), forgotten as (
    delete from sign_in.two_factor f using ended where f.id = ended.two_factor_id and not exists (
      select from sign_in.two_factor_members t where t.two_factor_id = f.id and t.member_id not in (select member_id from ended))
  )
  select member_id as id from ended`;

/** Runs in the transaction that resets two-factor authentication or removes the member. Returns whether it was on. */
export const endTwoFactor = async (em: ScopedEntityManager, memberId: string): Promise<boolean> =>
  (await executeIn(em, ending('member_id = ?'), [memberId])).length > 0;

/**
 * Protects these memberships with the app; returns those that were not protected before. Runs in a transaction that has
 * locked the passwords.
 */
export const protect = async (client: Connection, { id }: App, memberIds: readonly string[]): Promise<string[]> =>
  (await client.query<{ id: string }>(insertProtected, [id, memberIds])).rows.map((row) => row.id);

const alreadyOn = () => new Problem('repeated', { sentence: 'Two-factor authentication is already on.' });
const isOfApp = (code: string) => /^\d{6}$/.test(code);
/** People group the digits. */
const withoutSeparators = (code: string) => code.replaceAll(/[\s\p{Pd}]/gu, '');

export class TwoFactor {
  readonly #pool: pg.Pool;
  readonly #now: Clock;
  readonly #seal: Seal;

  constructor({ database, secret, now }: Parts) {
    this.#pool = database.signIns;
    this.#now = now;
    this.#seal = createSeal(secret, 'two-factor secrets');
  }

  read(memberIds: readonly string[]): Promise<App[]> {
    return readApps(this.#pool, memberIds);
  }

  /** A new secret, or the one that this session was already offered. */
  offer(sessionId: string, sealed: string): Offer {
    const known = this.#seal.open(sealed, `offer ${sessionId}`);
    if (known !== undefined) return { secret: known, sealed };
    const secret = newSecret();
    return { secret, sealed: this.#seal.seal(secret, `offer ${sessionId}`) };
  }

  /** Returns the recovery codes; undefined if the code is wrong. Does `work` in the same transaction. */
  async turnOn(
    { secret }: Offer,
    code: string,
    { userId, memberIds }: Protected,
    work: (client: Connection) => Promise<void>,
  ): Promise<string[] | undefined> {
    const step = stepOf(secret, withoutSeparators(code), await this.#now());
    if (step === undefined) return undefined;
    const [id, codes] = [randomUUID(), newRecoveryCodes()];
    await inTransaction(this.#pool, async (client) => {
      await lockPasswords(client, [{ userId }]);
      await client.query(
        `insert into sign_in.two_factor (id, user_id, sealed_secret, last_step, recovery_hashes) values ($1, $2, $3, $4, $5)`,
        [id, userId, this.#seal.seal(secret, id), step, codes.map(hashOfRecoveryCode)],
      );
      const { rowCount } = await client.query(insertProtected, [id, memberIds]);
      if (rowCount !== memberIds.length) throw alreadyOn();
      await work(client);
    });
    return codes;
  }

  /**
   * Accepts a code from the app or a recovery code, each only once, and does `work` in the same transaction, so that no
   * code is wasted. Undefined if the code is wrong or was used.
   */
  async confirm<T>(
    app: App,
    { userId, typed }: Pick<Protected, 'userId'> & { typed: string },
    work: (client: Connection, code: { isRecovery: boolean }) => Promise<T>,
  ): Promise<T | undefined> {
    const [code, nowMs] = [withoutSeparators(typed), await this.#now()];
    return inTransaction(this.#pool, async (client) => {
      await lockPasswords(client, [{ userId }]);
      const isRecovery = !isOfApp(code);
      const isRight = await (isRecovery
        ? acceptRecovery(client, app, code)
        : this.#acceptOfApp(client, app, { code, nowMs }));
      return isRight ? work(client, { isRecovery }) : undefined;
    });
  }

  async #acceptOfApp(
    client: Connection,
    { id, sealedSecret }: App,
    { code, nowMs }: { code: string; nowMs: number },
  ): Promise<boolean> {
    const opened = this.#seal.open(sealedSecret, id);
    const step = opened === undefined ? undefined : stepOf(opened, code, nowMs);
    if (opened === undefined || step === undefined) return false;
    // Sealed again with the current secret of the service, so a replaced one can be dropped after a while.
    const text = 'update sign_in.two_factor set last_step = $2, sealed_secret = $3 where id = $1 and last_step < $2';
    const { rowCount } = await client.query(text, [id, step, this.#seal.seal(opened, id)]);
    return rowCount === 1;
  }
}

/** Replaces the recovery codes of the app. */
export async function renewCodes(client: Connection, { id }: App): Promise<string[]> {
  const codes = newRecoveryCodes();
  const text = 'update sign_in.two_factor set recovery_hashes = $2 where id = $1';
  await client.query(text, [id, codes.map(hashOfRecoveryCode)]);
  return codes;
}

export async function turnOff(client: Connection, memberIds: readonly string[]): Promise<void> {
  await client.query(ending('member_id = any($1)'), [memberIds]);
}

async function acceptRecovery(client: Connection, { id }: App, code: string): Promise<boolean> {
  const text = `update sign_in.two_factor set recovery_hashes = array_remove(recovery_hashes, $2)
    where id = $1 and $2 = any(recovery_hashes)`;
  const { rowCount } = await client.query(text, [id, hashOfRecoveryCode(code)]);
  return rowCount === 1;
}
