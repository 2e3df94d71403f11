/** Browsers that have signed in before: they are not held up by what strangers on their network try. */
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
     * A value of Set-Cookie, after a sign-in to these organizations of this address. Signing in again makes no other
     * device: someone who can sign in to one organization of a person gets no more guesses at the password of another.
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
