/** CSRF tokens: each form has one, signed for its session, so that no other site can forge it. */
import { randomBytes } from 'node:crypto';
import { isSigned, sign } from '../../text/signatures.ts';
import type { Secret } from '../../text/signatures.ts';

export type CsrfTokens = ReturnType<typeof csrfTokens>;

export function csrfTokens(secret: Secret) {
  const signedText = (sessionId: string, id: string) => `csrf ${sessionId} ${id}`;
  return {
    /** A new token, for the form's hidden field `csrfToken`. */
    issue(sessionId: string): string {
      const id = randomBytes(16).toString('base64url');
      return `${id}.${sign(secret, signedText(sessionId, id)).toString('base64url')}`;
    },
    /** The token's own id, if it was issued for this session. */
    verify(sessionId: string, token: string): string | undefined {
      const [id = '', signature = ''] = token.split('.');
      return isSigned(secret, signedText(sessionId, id), Buffer.from(signature, 'base64url')) ? id : undefined;
    },
  };
}
