/** Browsers that have signed in before: they are not held up by what strangers on their network try. */
import { hash, randomUUID } from 'node:crypto';
import { signedCookie } from './session-cookie.ts';
import type { Secret } from '../text/signatures.ts';

export type KnownDevices = ReturnType<typeof knownDevices>;

const rememberedSeconds = 180 * 86_400;

export function knownDevices(signing: { secret: Secret; secure: boolean }) {
  const cookie = signedCookie(signing, 'settings.device', '/settings/sign-in');
  const hashed = (email: string) => hash('sha256', email.toLowerCase(), 'base64url');
  return {
    /** A value of Set-Cookie, after a sign-in to this address. */
    remember: (email: string): string => cookie.set(`${randomUUID()}:${hashed(email)}`, rememberedSeconds),
    /** The id of a browser that has signed in to this address; undefined if it never has. */
    known(header: string | undefined, email: string): string | undefined {
      const [id, whose] = cookie.read(header)?.split(':') ?? [];
      return whose === hashed(email) ? id : undefined;
    },
  };
}
