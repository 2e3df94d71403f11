import { createMailer, mailOptions } from '../outgoing/mail.ts';
import type { Mail } from '../outgoing/mail.ts';
import { readConfig } from '../config.ts';
import { warn } from './terminal.ts';

/** Does nothing if no mail server is configured. */
export async function sendMail(mail: Mail, { sent, unsent }: { sent: string; unsent: string }): Promise<void> {
  const options = mailOptions(readConfig());
  if (!options) return;
  await createMailer(options)
    .send(mail)
    .then(
      () => warn(`${sent} to ${mail.to}.`),
      (error: unknown) => warn(`${unsent} to ${mail.to}: ${String(error)}`),
    );
}
