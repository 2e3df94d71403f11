/** Mail, through the server at SMTP_URL. */
import type { Config } from '../config.ts';
import { messageOf } from '../problems/message-of.ts';

/** `to`: an address that the contract accepts, which is neither a list nor a group. */
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
  return {
    async send(mail) {
      // Loaded with the first mail.
      const { createTransport } = await import('nodemailer');
      const sending = createTransport({ url, ...timeouts }, { from }).sendMail(mail);
      await sending.catch((error: unknown) => {
        throw withoutAddresses(error);
      });
    },
  };
}

/** For the log: servers repeat the address in their error messages. */
function withoutAddresses(error: unknown): Error {
  return new Error(messageOf(error).replaceAll(/(?<![^\s<>"'()])[^\s<>"'()]+@[^\s<>"'()]+/g, '…'));
}
