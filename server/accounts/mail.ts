/** Mail to members, through the server at SMTP_URL. */
import type { Config } from '../config.ts';
import { messageOf } from '../problems/message-of.ts';

export type Mail = { to: string; subject: string; text: string };
export type Mailer = { send(mail: Mail): Promise<void> };

export type MailOptions = { url: string; from: string };

/** Undefined if no mail server is configured. */
export function mailOptions({
  SMTP_URL,
  MAIL_FROM,
  PUBLIC_URL,
}: Pick<Config, 'SMTP_URL' | 'MAIL_FROM' | 'PUBLIC_URL'>): MailOptions | undefined {
  if (SMTP_URL === undefined) return undefined;
  const host = PUBLIC_URL === undefined ? 'localhost' : new URL(PUBLIC_URL).hostname;
  return { url: SMTP_URL, from: MAIL_FROM ?? `Proposal API <no-reply@${host}>` };
}

/** `url` is `smtp://user:password@host:587`, or `smtps://…` for TLS from the start. */
export function createMailer({ url, from }: MailOptions): Mailer {
  const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 };
  // Loaded for the first mail.
  const connect = async () => (await import('nodemailer')).createTransport({ url, ...timeouts }, { from });
  let transport: ReturnType<typeof connect> | undefined;
  return {
    async send(mail) {
      transport ??= connect();
      // A single address only: a list would send the mail to others, too.
      const sending = (await transport).sendMail({ ...mail, to: { name: '', address: mail.to } });
      await sending.catch((error: unknown) => {
        throw withoutAddresses(error);
      });
    },
  };
}

/** For the log: servers repeat the address in what they say about it. */
function withoutAddresses(error: unknown): Error {
  return new Error(messageOf(error).replaceAll(/(?<![^\s<>"'()])[^\s<>"'()]+@[^\s<>"'()]+/g, '…'));
}

type Invitation = { organization: string; inviter: string; link: string; hours: number };

export const invitation = (to: string, { organization, inviter, link, hours }: Invitation): Mail => ({
  to,
  subject: `${inviter} invited you to ${organization}`,
  text: `${inviter} invited you to the settings of ${organization}, where its API keys are managed.

Choose a password within ${hours} hours:

${link}

If you did not expect this, you can ignore it.
`,
});

const twoFactorChanges = {
  turnedOn: 'was turned on. Signing in with your password now also needs a code from your authenticator app',
  turnedOff: 'was turned off. Signing in needs your password only',
  reset: 'was reset by an admin or operator. Signing in needs your password only, until you turn it on again',
  newCodes: 'has new recovery codes. The old ones no longer work',
  recovered: 'was passed with a recovery code, which no longer works. If you lost your app, turn it off and on again',
};
export type TwoFactorChange = keyof typeof twoFactorChanges;

export const twoFactorMail = (
  to: string,
  { change, organizations }: { change: TwoFactorChange; organizations: readonly string[] },
): Mail => ({
  to,
  subject: 'Your two-factor authentication',
  text: `Two-factor authentication for ${to} at ${organizations.join(', ')} ${twoFactorChanges[change]}.

If it was not you, change your password and tell an admin of your organization.
`,
});

export const twoFactorPolicyMail = (
  to: string,
  { organization, actor, isRequired }: { organization: string; actor: string; isRequired: boolean },
): Mail => ({
  to,
  subject: `Two-factor authentication is ${isRequired ? 'required' : 'optional'} in ${organization}`,
  text: `${actor} made two-factor authentication ${isRequired ? 'required' : 'optional'} for the members of ${organization}.
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
