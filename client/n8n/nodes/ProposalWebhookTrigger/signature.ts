/** Signatures as Standard Webhooks defines them. */
import { createHmac, timingSafeEqual } from 'node:crypto';

type Signed = { secret: string; headers: Record<string, string | string[] | undefined>; body: Buffer | string };

const toleranceSeconds = 300;

/** Whether one of the signatures is that of this body with this secret, made within five minutes of now. */
export function isSigned({ secret, headers, body }: Signed, now = Date.now() / 1000): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures = '' } = headers;
  if (!(Math.abs(now - Number(time)) <= toleranceSeconds)) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  // Without a key, anyone can sign. An expression in the credential can be empty.
  if (key.length === 0) return false;
  const expected = createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest();
  return String(signatures)
    .split(' ')
    .filter((one) => one.startsWith('v1,'))
    .map((one) => Buffer.from(one.slice(3), 'base64'))
    .some((one) => one.length === expected.length && timingSafeEqual(one, expected));
}
