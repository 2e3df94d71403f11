/** Mail to members. */
import type { Member } from '../entities/organization.ts';
import type { Mail } from '../outgoing/mail.ts';
import { linkHours } from './password-links.ts';

type PasswordLink = { organization: string; sender: string; link: string };

/** Invites a new member, or lets one who has signed in before choose a new password. */
export function passwordLinkMail(
  { email, lastSignedInAt }: Member,
  { organization, sender, link }: PasswordLink,
): Mail {
  const invites = lastSignedInAt === null;
  return {
    to: email,
    subject: invites ? `${sender} invited you to ${organization}` : `Choose a new password for ${organization}`,
    text: `${sender} ${invites ? 'invited you to' : 'sent you a link to choose a new password for'} the settings of ${organization}, where its API keys are managed.

Choose a password within ${linkHours} hours:

${link}

If you did not expect this, you can ignore it.
`,
  };
}

const twoFactorChanges = {
  turnedOn: 'was turned on. Signing in with your password now also needs a code from your authenticator app',
  turnedOff: 'was turned off. Signing in now needs only your password',
  reset: 'was reset by an admin or operator. Signing in needs only your password until you turn it on again',
  newCodes: 'has new recovery codes. The old ones no longer work',
  recovered:
    'was completed with a recovery code, which no longer works. If you lost your app, turn two-factor authentication off and on again',
};
export type TwoFactorChange = keyof typeof twoFactorChanges;

export const twoFactorMail = (
  to: string,
  { change, organizations }: { change: TwoFactorChange; organizations: readonly string[] },
): Mail => ({
  to,
  subject: 'Your two-factor authentication',
  text: `Two-factor authentication for ${to} at ${organizations.join(', ')} ${twoFactorChanges[change]}.

If you did not expect this, change your password and tell an admin of your organization.
`,
});

export const twoFactorPolicyMail = (
  to: string,
  { organization, actor, isRequired }: { organization: string; actor: string; isRequired: boolean },
): Mail => ({
  to,
  subject: `Two-factor authentication is ${isRequired ? 'required' : 'optional'} in ${organization}`,
  text: `${actor} made two-factor authentication ${isRequired ? 'required' : 'optional'} for the members of ${organization}.

If you did not expect this, ask ${actor}, and see Activity in the settings for what else has changed.
`,
});

export const resetMail = (to: string, link: string): Mail => ({
  to,
  subject: 'Choose a new password',
  text: `Someone, probably you, requested a new password for ${to}.

Choose it within 1 hour:

${link}

If it was not you, you can ignore this: your password has not changed.
`,
});
