/** Why a request failed, for the admin who reads the delivery log. */
import { ForbiddenAddress } from './addresses.ts';
import { messageOf } from '../problems/message-of.ts';

export function sentenceOf(error: unknown, totalMs: number): string {
  if (error instanceof ForbiddenAddress) return error.message;
  const code: unknown = Reflect.get(Object(error), 'code');
  if (code === 'ABORT_ERR' || (error instanceof Error && error.name === 'TimeoutError'))
    return `No response within ${totalMs / 1000} seconds.`;
  const known = typeof code === 'string' ? reasons[code] : undefined;
  return known ?? messageOf(error).slice(0, 200);
}

export const reasons: Record<string, string> = {
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was closed before a response.',
  ENOTFOUND: 'The host name does not exist.',
  ENODATA: 'The host name has no address.',
  EAI_AGAIN: 'The host name could not be resolved.',
  ESERVFAIL: 'The host name could not be resolved.',
  ETIMEOUT: 'The name server of the host did not respond.',
  EHOSTUNREACH: 'The host is unreachable.',
  ENETUNREACH: 'The network is unreachable.',
  CERT_HAS_EXPIRED: 'The TLS certificate has expired.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The TLS certificate is self-signed.',
  SELF_SIGNED_CERT_IN_CHAIN: 'The issuer of the TLS certificate is not trusted.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'The issuer of the TLS certificate is not trusted, or the server does not send its intermediate certificate.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The TLS certificate is for a different host name.',
  EPROTO: 'The TLS handshake failed: the receiver may speak plain HTTP on this port, or only old versions of TLS.',
  HPE_INVALID_CONSTANT: 'The response is not HTTP.',
};
