import { twoFactorMail } from '../accounts/mail.ts';
import { membersWithEmail } from '../accounts/member-lookup.ts';
import { resetTwoFactor } from '../accounts/members.ts';
import { readApps } from '../accounts/two-factor.ts';
import { UsageError } from '../config.ts';
import { forOrganization } from '../database/tenant.ts';
import { print, withDatabase } from './command.ts';
import { sendMail } from './mail.ts';

/** In every organization of the person: the operator is above them. */
export const resetTwoFactorOf = (email: string, { json }: { json?: true | undefined }) =>
  withDatabase(async (database) => {
    const known = await membersWithEmail(database.signIns, email);
    const apps = await readApps(
      database.signIns,
      known.map(({ id }) => id),
    );
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
