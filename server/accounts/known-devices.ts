/** Browsers that have signed in before: attempts by strangers on their network do not hold them up. */
import { hash } from 'node:crypto';
import { signedCookie } from './session-cookie.ts';
import type { Secret } from '../text/signatures.ts';

export type KnownDevices = ReturnType<typeof knownDevices>;

const rememberedSeconds = 180 * 86_400;

export function knownDevices(signing: { secret: Secret; secure: boolean }) {
  const cookie = signedCookie(signing, 'settings.device', '/settings/sign-in');
  const hashed = (text: string) => hash('sha256', text, 'base64url');
  const hashedEmail = (email: string) => hashed(email.toLowerCase());
  return {
    /**
     * A Set-Cookie value, after a sign-in to these organizations with this address. Signing in again does not create
     * another device: someone who can sign in to one of a person's organizations gets no extra guesses at the password
     * for another.
     */
    remember: (email: string, organizationIds: readonly string[]): string =>
      cookie.set(`${hashed(organizationIds.toSorted().join(' '))}:${hashedEmail(email)}`, rememberedSeconds),
    /** The id of a browser that has signed in to this address; undefined if it never has. */
    known(header: string | undefined, email: string): string | undefined {
      const [id, whose] = cookie.read(header)?.split(':') ?? [];
      return whose === hashedEmail(email) ? id : undefined;
    },
  };
}
