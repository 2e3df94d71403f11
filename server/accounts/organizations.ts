/** Organizations. The operator of the service creates them and sets their plan. */
import type { Database } from '../database/orm.ts';
import { forOrganization } from '../database/tenant.ts';
import { nameLength, parseName } from '../entities/name.ts';
import { Organization } from '../entities/organization.ts';
import { Problem } from '../problems/problem.ts';
import { recordEvent } from '../records/audit-log.ts';
import { lockOrganization } from '../records/require-admin.ts';

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
    const organization = await lockOrganization(em, id);
    if (organization.plan !== plan)
      recordEvent(em, { action: 'plan_changed', memberId: null, detail: plan, previous: organization.plan });
    organization.plan = plan;
    return organization;
  });
}

export async function renameOrganization(
  database: Database,
  { id }: Pick<Organization, 'id'>,
  typedName: string,
): Promise<Organization> {
  const name = checkOrganizationName(typedName);
  return forOrganization(database, id).transaction(async (em) => {
    const organization = await lockOrganization(em, id);
    if (organization.name !== name)
      recordEvent(em, { action: 'organization_renamed', memberId: null, detail: name, previous: organization.name });
    organization.name = name;
    return organization;
  });
}

function checkOrganizationName(typed: string): string {
  const parsed = parseName(typed, nameLength.organization);
  if ('problem' in parsed) throw new Problem('invalid', { sentence: parsed.problem });
  return parsed.name;
}
