/** Commands about one organization, some of them on behalf of a member. */
import { Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import { UsageError } from '../config.ts';
import type { ConfiguredDatabase, OpenOptions } from '../database/open.ts';
import { forOrganization } from '../database/tenant.ts';
import type { ScopedEntityManager, Tenant } from '../database/tenant.ts';
import { Member } from '../entities/organization.ts';
import { organizationBySlug, organizationOption, text, withDatabase } from './command.ts';

const byOption = () =>
  new Option('--by <EMAIL>', 'the admin who makes the change').argParser(text).makeOptionMandatory();

/** A subcommand about one organization. */
export const organizationCommand = (command: Command, name: string, summary: string) =>
  command.command(name).summary(summary).addOption(organizationOption());

/** A subcommand that an admin is responsible for; see `asMember`. */
export const adminCommand = (command: Command, name: string, summary: string) =>
  organizationCommand(command, name, summary).addOption(byOption());

/** Runs as the member that --by names. */
export const asMember = (
  { organization, by }: { organization: string; by: string },
  work: (em: ScopedEntityManager, member: Member, database: ConfiguredDatabase) => Promise<void>,
) =>
  inOrganization(organization, async (tenant, database) => {
    const em = tenant.em();
    const member = await em.findOne(Member, { emailKey: by.toLowerCase(), removedAt: null });
    if (!member) throw new UsageError(`${by} is not a member of this organization`);
    await work(em, member, database);
  });

/** Runs on the organization's data. */
export const inOrganization = (
  slug: string,
  work: (tenant: Tenant, database: ConfiguredDatabase) => Promise<void>,
  options?: OpenOptions,
) =>
  withDatabase(async (database) => {
    const { id } = await organizationBySlug(database, slug);
    await work(forOrganization(database, id), database);
  }, options);
