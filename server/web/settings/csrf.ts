/**
 * CSRF tokens: each form has one, signed for its session, so that no other site can forge it; and for the membership whose page
 * it is on, because another tab may switch the session to another organization meanwhile.
 */
import { randomBytes } from 'node:crypto';
import type { Visitor } from '../../accounts/sign-in.ts';
import { isSigned, sign } from '../../text/signatures.ts';
import type { Secret } from '../../text/signatures.ts';

export type CsrfTokens = ReturnType<typeof csrfTokens>;

export function csrfTokens(secret: Secret) {
  const signedText = (...words: [sessionId: string, memberId: string, id: string]) => `csrf ${words.join(' ')}`;
  return {
    /** A new token, for the form's hidden field `csrfToken`. */
    issue({ sessionId, member }: Pick<Visitor, 'sessionId' | 'member'>): string {
      const id = randomBytes(16).toString('base64url');
      return `${id}.${sign(secret, signedText(sessionId, member.id, id)).toString('base64url')}`;
    },
    /** The token's own id and its membership, if it was issued for this session. */
    verify(
      { sessionId, memberships }: Pick<Visitor, 'sessionId' | 'memberships'>,
      token: string,
    ): { id: string; memberId: string } | undefined {
      const [id = '', text = ''] = token.split('.');
      const signature = Buffer.from(text, 'base64url');
      const found = memberships.find(({ memberId }) =>
        isSigned(secret, signedText(sessionId, memberId, id), signature),
      );
      return found && { id, memberId: found.memberId };
    },
  };
}
