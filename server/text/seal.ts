/** Encrypts secrets that must be read again: AES-256-GCM with a key derived from the installation's secret. */
import { secretsIn } from './signatures.ts';
import type { Secret } from './signatures.ts';
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

export type Seal = ReturnType<typeof createSeal>;

/** Each purpose has its own key. */
type Purpose = 'webhook secrets' | 'two-factor secrets';

export function createSeal(secret: Secret, purpose: Purpose) {
  const keys = () => secretsIn(secret).map((one) => Buffer.from(hkdfSync('sha256', one, '', purpose, 32)));
  /** The text is bound to `owner`: it cannot be opened for any other. */
  const seal = (text: string, owner: string): string => {
    const [key = Buffer.alloc(0)] = keys();
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv(algorithm, key, iv).setAAD(Buffer.from(owner));
    const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), encrypted]).toString('base64url');
  };
  return {
    seal,
    /** Undefined if it was sealed with another key or for another owner. */
    open: (sealed: string, owner: string): string | undefined => opened(keys(), sealed, owner),
    /** The same text sealed with the current key; unchanged if it already is, or if no key opens it. */
    renewed(sealed: string, owner: string): string {
      const text = opened(keys().slice(1), sealed, owner);
      return text === undefined ? sealed : seal(text, owner);
    },
  };
}

const opened = (keys: readonly Buffer[], sealed: string, owner: string): string | undefined =>
  keys.map((key) => openedWith(key, Buffer.from(sealed, 'base64url'), owner)).find((text) => text !== undefined);

function openedWith(key: Buffer, bytes: Buffer, owner: string): string | undefined {
  const encrypted = bytes.subarray(ivBytes + tagBytes);
  try {
    const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivBytes))
      .setAAD(Buffer.from(owner))
      .setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
    return Buffer.concat([decipher.update(encrypted), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}
