/** Secrets and signatures according to Standard Webhooks. */
import { createHmac, randomBytes } from 'node:crypto';
import type { Seal } from '../text/seal.ts';
import type { Leased } from './leases.ts';

const prefix = 'whsec_';

export const newSecret = (): string => prefix + randomBytes(32).toString('base64');

type Message = { id: string; timestamp: number; body: string };

/** The value of `webhook-signature`: one signature for each secret, so any of them verifies it. */
export function signaturesOf(secrets: readonly string[], { id, timestamp, body }: Message): string {
  const signed = `${id}.${timestamp}.${body}`;
  const signature = (secret: string) =>
    createHmac('sha256', Buffer.from(secret.slice(prefix.length), 'base64'))
      .update(signed)
      .digest('base64');
  return secrets.map((secret) => `v1,${signature(secret)}`).join(' ');
}

/** Those that have not ended, and can be decrypted. */
export function openSecrets(seal: Seal, { id, secrets, takenAt }: Leased): string[] {
  return secrets.flatMap(({ sealed, endsAt }) => {
    const secret = endsAt !== null && endsAt <= takenAt ? undefined : seal.open(sealed, id);
    return secret === undefined ? [] : [secret];
  });
}
