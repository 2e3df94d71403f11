/** Organizations. The operator of the service creates them and sets their plan. */
import { UniqueConstraintViolationException } from '@mikro-orm/core';
import { currencyInput } from '../../contract/fields.ts';
import type { Database } from '../database/orm.ts';
import { deleteOrganization, forOrganization } from '../database/tenant.ts';
import type { ScopedEntityManager } from '../database/tenant.ts';
import { Member, Organization } from '../entities/organization.ts';
import { Problem } from '../problems/problem.ts';
import { recordEvent } from '../records/audit-log.ts';
import { checkName, nameLength } from '../records/name.ts';
import { asAdmin, lockOrganization } from '../records/require-admin.ts';
import type { Actor } from '../records/require-admin.ts';
import { deleteSignIn } from './credentials.ts';
import { endTwoFactor } from './two-factor.ts';

type Plan = Organization['plan'];

export type NewOrganization = Pick<Organization, 'name' | 'slug' | 'plan' | 'currency'>;

export async function createOrganization(
  { orm }: Pick<Database, 'orm'>,
  fields: NewOrganization,
): Promise<Organization> {
  const em = orm.em.fork();
  const organization = em.create(Organization, { ...fields, name: checkName(fields.name, nameLength.organization) });
  await em.flush().catch((error: unknown) => {
    if (!(error instanceof UniqueConstraintViolationException)) throw error;
    throw new Problem('taken', { sentence: `The slug ${fields.slug} is already taken. Choose another.` });
  });
  return organization;
}

export function listOrganizations({ orm }: Pick<Database, 'orm'>): Promise<Organization[]> {
  return orm.em.fork().find(Organization, {}, { orderBy: { createdAt: 'asc', id: 'asc' } });
}

/** The new plan takes effect in every process within a second. */
export async function setPlan(database: Database, { id }: Pick<Organization, 'id'>, plan: Plan): Promise<Organization> {
  return forOrganization(database, id).transaction(async (em) => {
    const organization = await lockOrganization(em);
    if (organization.plan !== plan)
      recordEvent(em, { action: 'plan_changed', memberId: null, detail: plan, previous: organization.plan });
    organization.plan = plan;
    return organization;
  });
}

/** Also removes all its data, and the sign-in records of people who belong to no other organization. */
export const removeOrganization = (database: Database, id: Organization['id']): Promise<void> =>
  forOrganization(database, id).transaction(async (em) => {
    for (const member of await em.find(Member, {})) {
      await endTwoFactor(em, member.id);
      await deleteSignIn(em, member);
    }
    await deleteOrganization(em);
  });

const renaming = {
  action: 'organization_renamed',
  privilege: 'change the name and currency of the organization',
} as const;

/**
 * For an admin or, if the actor is null, the operator. Omitted fields keep their values. The currency is the default for
 * new items. Problems: role, invalid.
 */
export async function changeOrganization(
  em: ScopedEntityManager,
  actor: Actor | null,
  typed: { name?: string | undefined; currency?: string | undefined },
): Promise<Organization> {
  return asAdmin(em, actor, { ...renaming, detail: typed.name }, async (inner, organization) => {
    const { name: previous, currency: previousCurrency } = organization;
    const name = checkName(typed.name ?? previous, nameLength.organization);
    const currency = currencyInput.safeParse(typed.currency ?? previousCurrency);
    if (!currency.success)
      throw new Problem('invalid', { sentence: 'Enter an ISO 4217 currency code, such as EUR.', field: 'currency' });
    const event = { memberId: actor?.id ?? null, detail: currency.data, previous: previousCurrency };
    if (previousCurrency !== currency.data) recordEvent(inner, { action: 'currency_changed', ...event });
    organization.name = name;
    organization.currency = currency.data;
    return { value: organization, ...(previous !== name && { entry: { detail: name, previous } }) };
  });
}

/**
 * An admin must meet the requirement first, or would be locked out. `isReady`: the admin's own session meets it. Returns
 * whether anything changed.
 */
export async function requireTwoFactor(
  em: ScopedEntityManager,
  actor: Actor,
  { isRequired, isReady }: { isRequired: boolean; isReady: boolean },
): Promise<boolean> {
  const attempt = { action: 'two_factor_policy_changed', privilege: 'require two-factor authentication' } as const;
  return asAdmin(em, actor, attempt, async (_, organization) => {
    const sentence = 'Turn on two-factor authentication for your own account first, on the Account page.';
    if (isRequired && !isReady) throw new Problem('invalid', { sentence });
    const isChanged = organization.requiresTwoFactor !== isRequired;
    organization.requiresTwoFactor = isRequired;
    return { value: isChanged, ...(isChanged && { entry: { detail: isRequired ? 'required' : 'optional' } }) };
  });
}
