/** The key room: keys are made, listed, renamed and revoked here, whoever asks, and here is said who may. */
import { randomBytes } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { LockMode } from '@mikro-orm/core';
import { hashKey } from './access/authenticate.ts';
import { ApiKey, AuditEvent, Organization } from './entities/organization.ts';
import type { Member } from './entities/organization.ts';

export const maximumLiveKeys = 25;
const maximumName = 80;

/** `ak_live_1a2b…9f0e`: what is shown of a key after its one full appearance. */
export const maskedKey = ({ prefix, lastFour }: Pick<ApiKey, 'prefix' | 'lastFour'>): string => `${prefix}…${lastFour}`;

/** Why a key was not made or changed, as a sentence for the person who asked. */
export class KeyRefusal extends Error {
  readonly reason: 'role' | 'plan' | 'limit' | 'name' | 'unknown';

  constructor(reason: KeyRefusal['reason'], sentence: string) {
    super(sentence);
    this.name = 'KeyRefusal';
    this.reason = reason;
  }
}

/** The acting member; `em` is bound to that member's organization. */
type Actor = Pick<Member, 'id' | 'role' | 'organizationId'>;

/**
 * Makes a key and returns it raw, for the only time. Refused (KeyRefusal, on the audit trail) unless the actor is an
 * admin, the plan is Team, and fewer than 25 keys are live.
 */
export async function issueKey(em: EntityManager, actor: Actor, typedName: string): Promise<{ raw: string; key: ApiKey }> {
  const name = checkName(typedName);
  return orAudit(em, actor, name, () =>
    em.transactional(async (inner) => {
      // The organization's row is what two at once queue for: the 26th key cannot slip in between.
      const organization = await inner.findOneOrFail(Organization, { id: actor.organizationId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
      requireAdmin(actor);
      if (organization.plan !== 'team') throw new KeyRefusal('plan', 'API keys need the Team plan.');
      const live = await inner.count(ApiKey, { revokedAt: null });
      if (live >= maximumLiveKeys) throw new KeyRefusal('limit', `An organization has at most ${maximumLiveKeys} live keys: revoke one first.`);
      const raw = `ak_live_${randomBytes(32).toString('hex')}`;
      const key = inner.create(ApiKey, { name, prefix: raw.slice(0, 12), lastFour: raw.slice(-4), hash: hashKey(raw), createdBy: actor.id });
      await inner.flush();
      record(inner, actor, 'key_created', key.id, name);
      return { raw, key };
    }),
  );
}

/** Ends a key; ending it again changes nothing. */
export async function revokeKey(em: EntityManager, actor: Actor, id: string): Promise<ApiKey> {
  return orAudit(em, actor, id, () =>
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

export async function renameKey(em: EntityManager, actor: Actor, id: string, typedName: string): Promise<ApiKey> {
  const name = checkName(typedName);
  return orAudit(em, actor, name, () =>
    em.transactional(async (inner) => {
      requireAdmin(actor);
      const key = await lockedKey(inner, id);
      if (key.name !== name) {
        record(inner, actor, 'key_renamed', key.id, `${key.name} → ${name}`);
        key.name = name;
      }
      return key;
    }),
  );
}

/** Every key of the organization, live ones first, newest first. */
export async function listKeys(em: EntityManager): Promise<ApiKey[]> {
  const keys = await em.find(ApiKey, {}, { orderBy: { createdAt: 'desc', id: 'desc' } });
  return [...keys.filter((key) => key.revokedAt === null), ...keys.filter((key) => key.revokedAt !== null)];
}

function requireAdmin({ role }: Actor): void {
  if (role !== 'admin') throw new KeyRefusal('role', 'Only admins of the organization can create, rename and revoke API keys.');
}

function checkName(typed: string): string {
  const name = typed.normalize('NFC').trim();
  if (name === '') throw new KeyRefusal('name', 'A key needs a name.');
  if ([...name].length > maximumName) throw new KeyRefusal('name', `The name of a key has at most ${maximumName} characters.`);
  if (/\p{Cc}/u.test(name) || !name.isWellFormed()) throw new KeyRefusal('name', 'The name of a key has no control characters.');
  return name;
}

async function lockedKey(em: EntityManager, id: string): Promise<ApiKey> {
  const key = await em.findOne(ApiKey, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!key) throw new KeyRefusal('unknown', 'There is no such key in this organization.');
  return key;
}

function record(em: EntityManager, actor: Actor, action: AuditEvent['action'], keyId: string | null, detail: string): void {
  em.create(AuditEvent, { action, memberId: actor.id, keyId, detail });
}

/** A refusal for role or plan goes on the trail, in a transaction of its own: the refused one was rolled back. */
async function orAudit<T>(em: EntityManager, actor: Actor, about: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof KeyRefusal && (error.reason === 'role' || error.reason === 'plan')) {
      await em.fork().transactional(async (inner) => {
        record(inner, actor, 'key_refused', null, `${error.reason}: ${about}`.slice(0, 200));
      });
    }
    throw error;
  }
}
