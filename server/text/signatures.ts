/**
 * Signs what the service issues and later accepts, such as cursors. A secret may be a list, `new,old`: the first one
 * signs, and signatures made with the others are still accepted.
 */
import { createHmac, hash, timingSafeEqual } from 'node:crypto';

/** In characters. A text with commas is a single secret unless every part has this length. */
const shortestSecret = 32;

/** A function if the secret can change while the process runs. */
export type Secret = string | (() => string);

export function secretsIn(given: Secret): [string, ...string[]] {
  const secret = typeof given === 'string' ? given : given();
  const [first = '', ...others] = secret.split(/, */);
  const isList = [first, ...others].every(({ length }) => length >= shortestSecret);
  return isList ? [first, ...others] : [secret];
}

type Text = string | Uint8Array;
const hmac = (secret: string, text: Text) => createHmac('sha256', secret).update(text).digest();

export const sign = (secret: Secret, text: Text): Buffer => hmac(secretsIn(secret)[0], text);

/** `bytes` is the length of issued signatures, which may be truncated. */
export function isSigned(secret: Secret, text: Text, signature: Uint8Array, bytes = 32): boolean {
  if (signature.length !== bytes) return false;
  return secretsIn(secret).some((one) => timingSafeEqual(hmac(one, text).subarray(0, bytes), signature));
}

/** Distinguishes secrets without revealing anything about them. */
export const fingerprintsOf = (secret: string): string[] =>
  secretsIn(secret).map((one) => hash('sha256', `fingerprint ${one}`, 'hex').slice(0, 16));
