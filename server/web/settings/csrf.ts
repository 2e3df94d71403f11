/**
 * Whether a form was sent from a page of this service, with a CSRF token. Each token is signed for its session, so no
 * other site can forge it, and for the membership of its page, because another tab may have switched the session to
 * another organization since.
 */
import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import type { Request } from 'express';
import type { Visitor } from '../../accounts/sign-in.ts';
import { Problem } from '../../problems/problem.ts';
import { isSigned, sign } from '../../text/signatures.ts';
import type { Secret } from '../../text/signatures.ts';

export function csrfTokens(secret: Secret) {
  const signedText = (...words: [sessionId: string, memberId: string, id: string]) => `csrf ${words.join(' ')}`;
  return {
    /** A new token, for the form's hidden field `csrfToken`. */
    issue({ sessionId, member }: Pick<Visitor, 'sessionId' | 'member'>): string {
      const id = randomBytes(16).toString('base64url');
      return `${id}.${sign(secret, signedText(sessionId, member.id, id)).toString('base64url')}`;
    },
    /** The token's id and membership, if it was issued for this session. */
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

/**
 * Browsers send a form's origin. The Host header alone proves nothing: another site can make its own name resolve to this
 * server (DNS rebinding). It counts only if it is a name of this service.
 */
export function isFromOurPage(request: Pick<Request, 'headers' | 'socket'>, publicUrl: string): boolean {
  const { origin, host = '', 'sec-fetch-site': site } = request.headers;
  if (site !== undefined && site !== 'same-origin') return false;
  const ownHosts = hostsOf(request, publicUrl);
  if (origin === undefined) return site === 'same-origin' && ownHosts.includes(host.toLowerCase());
  const sender = URL.parse(origin);
  return sender?.protocol === new URL(publicUrl).protocol && ownHosts.includes(sender.host);
}

/**
 * The hosts of this service: that of its URL and, if the URL names the machine itself (no PUBLIC_URL is set), the other
 * local names of the machine with the same port.
 */
function hostsOf({ socket }: Pick<Request, 'socket'>, publicUrl: string): string[] {
  const { host, hostname, port } = new URL(publicUrl);
  if (!isOwnName(hostname)) return [host];
  const own = ['localhost', '127.0.0.1', '[::1]', localAddress(socket.localAddress)];
  return [host, ...own.map((name) => (port === '' ? name : `${name}:${port}`))];
}

const isOwnName = (hostname: string) => hostname === 'localhost' || isIP(hostname.replaceAll(/^\[|\]$/g, '')) !== 0;

/** The IP address that the request was sent to, in the form of a URL's host. */
function localAddress(address = ''): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '');
  return isIP(plain) === 6 ? `[${plain}]` : plain;
}

export const forgedForm = () =>
  new Problem('forged', {
    sentence:
      'This form did not come from a page of this service, so nothing was changed. Open the page again and retry. If the service runs under a different host name, its operator must set PUBLIC_URL.',
  });

/** Of an earlier session: this person, or someone else, has signed in again in another tab. */
export const formOfOtherSession = () =>
  new Problem('forged', {
    sentence:
      'This browser has signed in again since this page was opened, so nothing was changed. Open the page again and retry.',
  });
