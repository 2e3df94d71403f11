/** Organizations. The operator of the service creates them and sets their plan. */
import { currencyInput } from '../../contract/fields.ts';
import type { Database } from '../database/orm.ts';
import { forOrganization, removeRows } from '../database/tenant.ts';
import type { ScopedEntityManager } from '../database/tenant.ts';
import { nameLength, parseName } from '../entities/name.ts';
import { Member, Organization } from '../entities/organization.ts';
import { Problem } from '../problems/problem.ts';
import { auditingRejections, recordEvent } from '../records/audit-log.ts';
import { lockOrganization, requireAdmin } from '../records/require-admin.ts';
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
  if (await em.findOne(Organization, { slug: fields.slug }))
    throw new Problem('taken', { sentence: `The slug ${fields.slug} is already taken. Choose another.` });
  const organization = em.create(Organization, { ...fields, name: checkOrganizationName(fields.name) });
  await em.flush();
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

/** With all that it has, and the sign-ins of people who are in no other. */
export const removeOrganization = (database: Database, id: Organization['id']): Promise<void> =>
  forOrganization(database, id).transaction(async (em) => {
    for (const member of await em.find(Member, {})) {
      await endTwoFactor(em, member.id);
      await deleteSignIn(em, member);
    }
    await removeRows(em);
  });

/** By the operator. */
export async function renameOrganization(
  database: Database,
  { id }: Pick<Organization, 'id'>,
  typedName: string,
): Promise<Organization> {
  const name = checkOrganizationName(typedName);
  return forOrganization(database, id).transaction(async (em) => rename(em, await lockOrganization(em), name, null));
}

/** By an admin. The currency is that of new items whose currency is left out. Problems: role, invalid. */
export async function changeOrganization(
  em: ScopedEntityManager,
  actor: Actor,
  typed: { name: string; currency: string },
): Promise<Organization> {
  const attempt = { action: 'organization_renamed', memberId: actor.id, detail: typed.name } as const;
  return auditingRejections(em, attempt, () =>
    em.transactional(async (inner) => {
      const organization = await requireAdmin(inner, actor, 'change the name and currency of the organization');
      const name = checkOrganizationName(typed.name);
      const currency = currencyInput.safeParse(typed.currency.trim());
      if (!currency.success)
        throw new Problem('invalid', { sentence: 'Enter an ISO 4217 currency code, such as EUR.', field: 'currency' });
      const { currency: previous } = organization;
      if (previous !== currency.data)
        recordEvent(inner, { action: 'currency_changed', memberId: actor.id, detail: currency.data, previous });
      organization.currency = currency.data;
      return rename(inner, organization, name, actor.id);
    }),
  );
}

/** By an admin, who would be the first to be kept out: `isReady` if that admin's own session satisfies it. */
export async function requireTwoFactor(
  em: ScopedEntityManager,
  actor: Actor,
  { isRequired, isReady }: { isRequired: boolean; isReady: boolean },
): Promise<void> {
  const attempt = { action: 'two_factor_policy_changed', memberId: actor.id } as const;
  await auditingRejections(em, attempt, () =>
    em.transactional(async (inner) => {
      const organization = await requireAdmin(inner, actor, 'require two-factor authentication');
      const sentence = 'Turn on two-factor authentication for your own account first, on the Account page.';
      if (isRequired && !isReady) throw new Problem('invalid', { sentence });
      if (organization.requiresTwoFactor === isRequired) return;
      recordEvent(inner, { ...attempt, detail: isRequired ? 'required' : 'optional' });
      organization.requiresTwoFactor = isRequired;
    }),
  );
}

function rename(
  em: ScopedEntityManager,
  organization: Organization,
  name: string,
  memberId: string | null,
): Organization {
  const { name: previous } = organization;
  if (previous !== name) recordEvent(em, { action: 'organization_renamed', memberId, detail: name, previous });
  organization.name = name;
  return organization;
}

function checkOrganizationName(typed: string): string {
  const parsed = parseName(typed, nameLength.organization);
  if ('problem' in parsed) throw new Problem('invalid', { sentence: parsed.problem, field: 'name' });
  return parsed.name;
}
