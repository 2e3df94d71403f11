import { Argument, Option } from '@commander-js/extra-typings';
import { passwordLinkMail, twoFactorMail } from '../accounts/mail.ts';
import {
  addMember,
  changeRole,
  listMembers,
  readMemberStates,
  removeMember,
  resetTwoFactor,
} from '../accounts/members.ts';
import { membersWithEmail } from '../accounts/member-lookup.ts';
import { readApps } from '../accounts/two-factor.ts';
import { issueLink, linkHours, pathOfLink, setPassword } from '../accounts/password-links.ts';
import { readConfig, UsageError } from '../config.ts';
import type { ConfiguredDatabase } from '../database/open.ts';
import { forOrganization } from '../database/tenant.ts';
import { Member, Organization, roles } from '../entities/organization.ts';
import type { Role } from '../entities/organization.ts';
import { writeEvent } from '../records/audit-log.ts';
import { publicId } from '../records/public-id.ts';
import { inOrganization, organizationCommand } from './acting.ts';
import { jsonOption, organizationBySlug, print, printList, printTable, text, withDatabase } from './command.ts';
import type { Declare } from './command.ts';
import { sendMail } from './mail.ts';
import { checkPassword, passwordOption, readPassword } from './password-stdin.ts';
import { printJson, printLines } from './terminal.ts';

const whichOption = () =>
  new Option('--organization <SLUG>', 'the organization, for a person who is in several').argParser(text);

const description = `Admins manage members, API keys, webhooks, imports and exports; members can see records, keys and usage. An email address
can belong to members of several organizations; --organization then says which one is meant. \`add\` and \`password\` print
a link with which the member sets a password for the settings pages, once and within ${linkHours} hours. The link begins with PUBLIC_URL,
or with http://localhost and PORT. With --password-stdin, the password is the first line of standard input instead. A new
password ends the member's sessions, and a removed member loses access immediately. The last admin cannot be removed.`;

export const declare: Declare = (command) => {
  command.description(description);
  const ofMember = (name: string, summary: string) =>
    command.command(name).summary(summary).argument('<EMAIL>', 'the member');
  organizationCommand(command, 'list', 'list the members of an organization').addOption(jsonOption()).action(list);
  organizationCommand(command, 'add', 'add a member to an organization')
    .requiredOption('--email <EMAIL>', 'their email address', text)
    .requiredOption('--name <NAME>', 'their name', text)
    .addOption(new Option('--role <ROLE>', 'their role').choices(roles).makeOptionMandatory())
    .addOption(passwordOption())
    .addOption(jsonOption())
    .action(add);
  ofMember('password', 'issue a link for choosing a new password')
    .addOption(whichOption())
    .addOption(passwordOption())
    .addOption(jsonOption())
    .action(password);
  ofMember('role', 'change the role of a member')
    .addArgument(new Argument('<ROLE>', 'the new role').choices(roles))
    .addOption(whichOption())
    .addOption(jsonOption())
    .action(changeRoleOf);
  ofMember('reset-two-factor', 'turn off two-factor authentication for a member who lost the app')
    .addOption(jsonOption())
    .action(resetTwoFactorOf);
  ofMember('remove', 'remove a member').addOption(whichOption()).addOption(jsonOption()).action(remove);
};

type Json = { json?: true | undefined };
type Which = { organization?: string | undefined };
type Access = Json & Which & { passwordStdin?: true | undefined };

const list = ({ organization: slug, json }: Json & { organization: string }) =>
  inOrganization(slug, async (tenant, database) => {
    const states = await readMemberStates(database, await listMembers(tenant.em()));
    const rows = states.map(({ member, hasPassword, hasTwoFactor }) => ({
      ...present(member),
      canSignIn: hasPassword,
      twoFactor: hasTwoFactor,
      lastSignedInAt: member.lastSignedInAt,
    }));
    printList(
      json,
      rows,
      rows.map(({ canSignIn, twoFactor, lastSignedInAt, ...row }) => ({
        ...row,
        twoFactor: twoFactor ? 'on' : 'off',
        lastSignedInAt: lastSignedInAt ?? (canSignIn ? 'never' : 'invited'),
      })),
    );
  });

type NewMember = Access & { organization: string; email: string; name: string; role: Role };

async function add({ organization: slug, passwordStdin, json, ...fields }: NewMember): Promise<void> {
  const typed = passwordStdin ? await readPassword() : undefined;
  await withDatabase(async (database) => {
    const organization = await organizationBySlug(database, slug);
    await checkPassword(typed, [fields.email, fields.name, organization.name]);
    const member = await addMember(database, organization, fields);
    const link = await giveAccess(database, member, typed);
    printWithLink(member, link, json);
    if (link !== null) await mailLink(member, { organization: organization.name, link });
  });
}

async function password(email: string, { passwordStdin, json, organization: slug }: Access): Promise<void> {
  const typed = passwordStdin ? await readPassword() : undefined;
  await withDatabase(async (database) => {
    const { member, em } = await memberByEmail(database, email, slug);
    const organization = await em.findOneOrFail(Organization, { id: member.organizationId });
    await checkPassword(typed, [email, member.name, organization.name]);
    const link = await giveAccess(database, member, typed);
    const action = link === null ? 'password_changed' : 'password_link_issued';
    await writeEvent(em, { action, memberId: null, subjectId: member.id });
    printWithLink(member, link, json);
  });
}

const changeRoleOf = (email: string, role: Role, { json, organization }: Json & Which) =>
  withDatabase(async (database) => {
    const { member, em } = await memberByEmail(database, email, organization);
    printList(json, present(await changeRole(em, null, member, role)));
  });

const remove = (email: string, { json, organization }: Json & Which) =>
  withDatabase(async (database) => {
    const { member, em } = await memberByEmail(database, email, organization);
    const removed = await removeMember(em, null, member);
    print(
      json,
      { ...present(removed), removedAt: removed.removedAt },
      `Removed ${removed.name} (${removed.email}). Their access has ended.`,
    );
  });

/** In all of the person's organizations: the operator acts for all of them. */
const resetTwoFactorOf = (email: string, { json }: Json) =>
  withDatabase(async (database) => {
    const known = await membersWithEmail(database.signIns, email);
    const ids = known.map(({ id }) => id);
    const apps = await readApps(database.signIns, ids);
    const members = known.filter(({ id }) => apps.some(({ memberId }) => memberId === id));
    const [first] = members;
    if (!first) throw new UsageError(`${email} has no two-factor authentication to reset`);
    for (const member of members)
      await resetTwoFactor(forOrganization(database, member.organizationId).em(), null, member);
    const organizations = members.map(({ organizationName }) => organizationName);
    print(json, { email: first.email, organizations }, `Reset the two-factor authentication of ${first.email}.`);
    const mail = twoFactorMail(first.email, { change: 'reset', organizations });
    await sendMail(mail, { sent: 'A notice was sent', unsent: 'A notice could not be sent' });
  });

async function memberByEmail(database: ConfiguredDatabase, email: string, slug: string | undefined) {
  const all = await membersWithEmail(database.signIns, email);
  const [known, ...others] = slug === undefined ? all : all.filter((one) => one.slug === slug);
  if (!known) throw new UsageError(`${email} is not a member of ${slug ?? 'any organization'}`);
  if (others.length > 0) {
    const slugs = all.map((one) => one.slug).toSorted();
    throw new UsageError(`${email} is a member of ${slugs.join(', ')}: choose one with --organization`);
  }
  const em = forOrganization(database, known.organizationId).em();
  return { member: await em.findOneOrFail(Member, { id: known.id }), em };
}

/** The link to choose a password; null if the password was given. */
async function giveAccess(
  database: ConfiguredDatabase,
  member: Member,
  typed: string | undefined,
): Promise<string | null> {
  if (typed !== undefined) {
    await setPassword(database.signIns, member, typed);
    return null;
  }
  const { PUBLIC_URL, PORT } = readConfig();
  const path = pathOfLink(await issueLink(database.signIns, member));
  return (PUBLIC_URL ?? `http://localhost:${PORT}`) + path;
}

const present = ({ id, email, name, role: current }: Member) => ({
  id: publicId('member', id),
  email,
  name,
  role: current,
});

function printWithLink(member: Member, passwordLink: string | null, json: boolean | undefined): void {
  if (json) return printJson({ ...present(member), passwordLink });
  printTable([present(member)]);
  if (passwordLink === null) printLines('', 'The password is set.');
  else printLines('', `Choose a password, once and within ${linkHours} hours:`, '', `  ${passwordLink}`, '');
}

/** The link is printed in any case: mail may fail. */
async function mailLink(member: Member, { organization, link }: { organization: string; link: string }) {
  const facts = { organization, sender: 'The operator of this service', link };
  await sendMail(passwordLinkMail(member, facts), {
    sent: 'The link was also sent',
    unsent: 'The link could not be sent',
  });
}
