/** CSRF tokens: each form has one, signed for its session, so that no other site can forge it. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

export type CsrfTokens = {
  /** A new token, for the form's hidden field `csrfToken`. */
  issue(sessionId: string): string;
  /** The token's own id, if it was issued for this session. */
  verify(sessionId: string, token: string): string | undefined;
};

export function csrfTokens(secret: string): CsrfTokens {
  const sign = (sessionId: string, id: string) =>
    createHmac('sha256', secret).update(`csrf ${sessionId} ${id}`).digest();
  return {
    issue(sessionId) {
      const id = randomBytes(16).toString('base64url');
      return `${id}.${sign(sessionId, id).toString('base64url')}`;
    },
    verify(sessionId, token) {
      const [id = '', signature = ''] = token.split('.');
      const actual = Buffer.from(signature, 'base64url');
      const expected = sign(sessionId, id);
      return actual.length === expected.length && timingSafeEqual(actual, expected) ? id : undefined;
    },
  };
}
