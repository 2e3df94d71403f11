/** The codes of authenticator apps (RFC 6238: SHA-1, 6 digits, 30 seconds), and recovery codes. */
import { hash, randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';

const stepMs = 30_000;
const recoveryCodes = 10;

export const newSecret = (): string => new Secret({ size: 20 }).base32;

/** What an app reads from a QR code. */
export const appUrl = (secret: string, { issuer, email }: { issuer: string; email: string }): string =>
  new TOTP({ issuer, label: email, secret }).toString();

/** The time step of a code; undefined if it is wrong. Accepts one step early or late, because clocks differ. */
export function stepOf(secret: string, code: string, nowMs: number): number | undefined {
  const delta = new TOTP({ secret }).validate({ token: code, timestamp: nowMs, window: 1 });
  return delta === null ? undefined : Math.floor(nowMs / stepMs) + delta;
}

const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789';

/** Easy to write down: `abcd-efgh-jkmn-pqrs`, 80 random bits. */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: recoveryCodes }, () => {
    const letters = [...randomBytes(16)].map((byte) => alphabet[byte % alphabet.length]).join('');
    return letters.replaceAll(/.{4}(?=.)/g, '$&-');
  });

/** A fast hash is enough for a code that nobody can guess. */
export const hashOfRecoveryCode = (code: string): string =>
  hash('sha256', code.toLowerCase().replaceAll(/[^a-z0-9]/g, ''), 'base64url');
