/** Mail, through the server at SMTP_URL. */
import { Socket } from 'node:net';
import type { Config } from '../config.ts';
import { messageOf } from '../problems/message-of.ts';

/** `to`: an address that the contract accepts, which is neither a list nor a group. */
export type Mail = { to: string; subject: string; text: string };
/** `withinMs` is for the whole mail, however little the server sends at a time. */
export type Mailer = { send(mail: Mail, withinMs?: number): Promise<void> };

export const mailLimits = {
  /** As for a webhook: a process that stops waits for the mail that it is sending. */
  totalMs: 15_000,
  /** For a page that says whether the mail was sent: its response is due a little later. */
  pageMs: 8_000,
};

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
  return {
    async send(mail, withinMs = mailLimits.totalMs) {
      // Loaded with the first mail.
      const { createTransport } = await import('nodemailer');
      // Nothing else handles its errors before it connects.
      const socket = new Socket().on('error', () => undefined);
      // Otherwise, out-of-office responders would reply to the sender (RFC 3834).
      const defaults = { from, headers: { 'Auto-Submitted': 'auto-generated' } };
      const sending = createTransport({ url, socket, connectionTimeout: withinMs }, defaults).sendMail(mail);
      const late = new Error(`The mail server did not accept the mail within ${withinMs / 1000} seconds.`);
      // Repeated, because destroying a socket before it connects does not stop it.
      const timer = setInterval(() => socket.destroy(late), withinMs);
      try {
        await sending;
      } catch (error) {
        throw withoutAddresses(error);
      } finally {
        clearInterval(timer);
      }
    },
  };
}

/** For the log: servers repeat the address in their error messages, and “write EPIPE” alone could be about anything. */
function withoutAddresses(error: unknown): Error {
  const message = messageOf(error).replaceAll(/(?<![^\s<>"'()])[^\s<>"'()]+@[^\s<>"'()]+/g, '…');
  return Object.assign(new Error(message), { name: 'MailError' });
}
