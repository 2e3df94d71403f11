/** The key room: keys are made, listed, renamed and revoked here, whoever asks, and here is said who may. */
import { randomBytes } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { ScopedEntityManager } from '../database/tenant.ts';
import { LockMode } from '@mikro-orm/core';
import { hashKey } from './authenticate.ts';
import { ApiKey, AuditEvent, Member, Organization } from '../entities/organization.ts';
import { publicId } from '../records/public-id.ts';

export const maximumLiveKeys = 25;
export const maximumName = 80;
/** How much of the past a page shows: revoked keys, and what was done with keys. */
const mostShown = { revoked: 100, events: 50 };

/** `ak_live_1a2b…9f0e`: what is shown of a key after its one full appearance. */
export const maskedKey = ({ prefix, lastFour }: Pick<ApiKey, 'prefix' | 'lastFour'>): string => `${prefix}…${lastFour}`;

type Reason = 'role' | 'plan' | 'limit' | 'name' | 'unknown' | 'repeated' | 'forged';
export type Attempt = 'create' | 'rename' | 'revoke';

/** Why a key was not made or changed, as a sentence for the person who asked. */
export class KeyRefusal extends Error {
  readonly reason: Reason;

  constructor(reason: Reason, sentence: string) {
    super(sentence);
    this.name = 'KeyRefusal';
    this.reason = reason;
  }
}

/** The acting member; `em` is bound to that member's organization. */
type Actor = Pick<Member, 'id' | 'role' | 'organizationId'>;

/**
 * Makes a key and returns it raw, for the only time. Refused (KeyRefusal) unless the actor is an admin, the plan is
 * Team, and fewer than 25 keys are live; for role and plan also on the audit trail. `form` names the one sheet of paper
 * that it was asked for on, where there is one: asked for again on the same sheet, nothing is made.
 */
export async function issueKey(
  em: ScopedEntityManager,
  actor: Actor,
  typedName: string,
  form?: string,
): Promise<{ raw: string; key: ApiKey }> {
  return orAudit(em, actor, 'create', typedName, () =>
    em.transactional(async (inner) => {
      // The organization's row is what two at once queue for: the 26th key cannot slip in between.
      const organization = await inner.findOneOrFail(
        Organization,
        { id: actor.organizationId },
        { lockMode: LockMode.PESSIMISTIC_WRITE },
      );
      requireAdmin(actor);
      if (organization.plan !== 'team') throw new KeyRefusal('plan', 'API keys need the Team plan.');
      if (form !== undefined) await requireUnused(inner, form);
      const name = checkName(typedName);
      const live = await inner.count(ApiKey, { revokedAt: null });
      if (live >= maximumLiveKeys)
        throw new KeyRefusal('limit', `An organization has at most ${maximumLiveKeys} live keys: revoke one first.`);
      const raw = `ak_live_${randomBytes(32).toString('hex')}`;
      const prefix = raw.slice(0, 12);
      const fields = {
        name,
        prefix,
        lastFour: raw.slice(-4),
        hash: hashKey(raw),
        createdBy: actor.id,
        createdByForm: form ?? null,
      };
      const key = inner.create(ApiKey, fields);
      await inner.flush();
      record(inner, actor, 'key_created', key.id, name);
      return { raw, key };
    }),
  );
}

/** Ends a key; ending it again changes nothing. */
export async function revokeKey(em: ScopedEntityManager, actor: Actor, id: string): Promise<ApiKey> {
  return orAudit(em, actor, 'revoke', publicId('key', id), () =>
    em.transactional(async (inner) => {
      requireAdmin(actor);
      const key = await lockedKey(inner, id);
      if (key.revokedAt === null) {
        key.revokedAt = key.transactionStart ?? null;
        key.revokedBy = actor.id;
        record(inner, actor, 'key_revoked', key.id, key.name);
      }
      return key;
    }),
  );
}

export async function renameKey(em: ScopedEntityManager, actor: Actor, id: string, typedName: string): Promise<ApiKey> {
  return orAudit(em, actor, 'rename', typedName, () =>
    em.transactional(async (inner) => {
      requireAdmin(actor);
      const name = checkName(typedName);
      const key = await lockedKey(inner, id);
      if (key.name !== name) {
        record(inner, actor, 'key_renamed', key.id, `${key.name} → ${name}`);
        key.name = name;
      }
      return key;
    }),
  );
}

/** Puts on the trail what never got as far as the rooms above: it did not come from one of our own pages. */
export async function refuseForgery(em: ScopedEntityManager, actor: Actor, attempt: Attempt): Promise<void> {
  await audit(em, actor, 'forged', attempt, '');
}

/** Every key of the organization, live ones first, newest first. */
export async function listKeys(em: ScopedEntityManager): Promise<ApiKey[]> {
  const keys = await em.find(ApiKey, {}, { orderBy: { createdAt: 'desc', id: 'desc' } });
  return [...keys.filter((key) => key.revokedAt === null), ...keys.filter((key) => key.revokedAt !== null)];
}

export type KeyRoom = {
  live: ApiKey[];
  /** The latest of them, and how many there are. */
  revoked: ApiKey[];
  revokedCount: number;
  /** What was done with keys, the latest first. */
  events: AuditEvent[];
  /** The name of a member who made, ended or did something of the above. */
  nameOf(memberId: string | null): string;
};

/** Everything that there is to see, for any member of the organization: there is nothing raw in it. */
export async function readKeyRoom(em: ScopedEntityManager): Promise<KeyRoom> {
  const latest = { createdAt: 'desc', id: 'desc' } as const;
  const live = await em.find(ApiKey, { revokedAt: null }, { orderBy: latest });
  const ended = { revokedAt: { $ne: null } };
  const revoked = await em.find(ApiKey, ended, {
    orderBy: { revokedAt: 'desc', id: 'desc' },
    limit: mostShown.revoked,
  });
  const revokedCount = revoked.length < mostShown.revoked ? revoked.length : await em.count(ApiKey, ended);
  const events = await em.find(AuditEvent, {}, { orderBy: latest, limit: mostShown.events });
  const ids = [
    ...[...live, ...revoked].flatMap(({ createdBy, revokedBy }) => [createdBy, revokedBy ?? createdBy]),
    ...events.map(({ memberId }) => memberId),
  ];
  const members = await em.find(Member, { id: { $in: [...new Set(ids)] } });
  const names = new Map(members.map(({ id, name }) => [id, name]));
  return { live, revoked, revokedCount, events, nameOf: (id) => names.get(id ?? '') ?? 'a former member' };
}

/** One key of the organization; a KeyRefusal where there is none. */
export async function findKey(em: ScopedEntityManager, id: string): Promise<ApiKey> {
  const key = await em.findOne(ApiKey, { id });
  if (!key) throw unknown();
  return key;
}

function requireAdmin({ role }: Actor): void {
  if (role !== 'admin')
    throw new KeyRefusal('role', 'Only admins of the organization can create, rename and revoke API keys.');
}

async function requireUnused(em: EntityManager, form: string): Promise<void> {
  const key = await em.findOne(ApiKey, { createdByForm: form });
  if (!key) return;
  const sentence = `This form was sent before, and “${key.name}” (${maskedKey(key)}) was made then. No second key was made.`;
  throw new KeyRefusal('repeated', sentence);
}

function checkName(typed: string): string {
  const name = typed.normalize('NFC').trim();
  if (name === '') throw new KeyRefusal('name', 'A key needs a name.');
  if ([...name].length > maximumName)
    throw new KeyRefusal('name', `The name of a key has at most ${maximumName} characters.`);
  if (/\p{Cc}/u.test(name) || !name.isWellFormed())
    throw new KeyRefusal('name', 'The name of a key has no control characters.');
  return name;
}

const unknown = () => new KeyRefusal('unknown', 'There is no such key in this organization.');

async function lockedKey(em: EntityManager, id: string): Promise<ApiKey> {
  const key = await em.findOne(ApiKey, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!key) throw unknown();
  return key;
}

function record(
  em: EntityManager,
  actor: Actor,
  action: AuditEvent['action'],
  keyId: string | null,
  detail: string,
): void {
  em.create(AuditEvent, { action, memberId: actor.id, keyId, detail });
}

const audited: readonly Reason[] = ['role', 'plan', 'unknown'];

/** Who may not, and who asked for what is not theirs, goes on the trail. */
async function orAudit<T>(
  em: EntityManager,
  actor: Actor,
  attempt: Attempt,
  about: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof KeyRefusal && audited.includes(error.reason))
      await audit(em, actor, error.reason, attempt, about);
    throw error;
  }
}

/** In a transaction of its own: the refused one was rolled back. */
async function audit(em: EntityManager, actor: Actor, reason: Reason, attempt: Attempt, about: string): Promise<void> {
  // What was typed may be anything, and was not checked by anybody.
  const printable = about
    .slice(0, 200)
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, ' ');
  await em
    .fork()
    .transactional(async (inner) => record(inner, actor, 'key_refused', null, `${reason}/${attempt}: ${printable}`));
}

/** Why what was refused, from the detail of a key_refused. */
export function readRefusal(detail: string | null): { reason: string; attempt: string; about: string } {
  const [, reason = '', attempt = '', about = ''] = /^(\w+)\/(\w+): (.*)$/su.exec(detail ?? '') ?? [];
  return { reason, attempt, about };
}
