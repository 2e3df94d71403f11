/** Authenticates a request: its Bearer key → the live key, or the problem that says what is wrong. */
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Problem } from '../problems/problem.ts';
import type { UnknownKeys } from '../limits/unknown-keys.ts';
import type { KeyDirectory, AuthenticatedKey } from './directory.ts';

const form = /^ak_live_[0-9a-f]{64}$/;

/** A key is 256 random bits, so a plain SHA-256 is safe, and costs a microsecond. */
export const hashKey = (raw: string): string => hash('sha256', raw, 'hex');

function missing(headers: IncomingHttpHeaders, query: string): Problem {
  if (headers['x-api-key'] !== undefined) return new Problem('api_key_missing', { found: 'x_api_key' });
  const inUrl = /ak_live_|(^|[?&])(api_?key|access_token|token|key)=/i.test(query);
  return new Problem('api_key_missing', inUrl ? { found: 'url' } : {});
}

/** The usual mistakes; the first match counts. */
const mistakes = [
  [/^bearer\s+bearer\b/i, 'bearer_twice'],
  [/^ak_live_/i, 'no_bearer'],
  [/^(?!bearer\b)/i, 'other_scheme'],
  [/^bearer\s+ak_live_[0-9a-f]{64}$/i, 'upper_case'],
  [/^bearer\s+["'<]/i, 'quoted'],
] as const;

function malformed(authorization: string): Problem {
  const [, mistake = 'no_key' as const] = mistakes.find(([pattern]) => pattern.test(authorization)) ?? [];
  return new Problem('api_key_malformed', { mistake });
}

type Credentials = { headers: IncomingHttpHeaders; url: string; ipAddress: string };

/**
 * The live key of the request. Problems: api_key_missing, api_key_malformed, api_key_invalid, api_key_revoked, and
 * rate_limited if the same network has sent too many unknown keys.
 */
export async function authenticate(
  { headers, url, ipAddress }: Credentials,
  keys: KeyDirectory,
  unknownKeys: UnknownKeys,
): Promise<AuthenticatedKey> {
  const authorization = headers.authorization?.trim();
  if (!authorization) throw missing(headers, url);
  const [scheme = '', raw = '', ...rest] = authorization.split(/ +/);
  if (scheme.toLowerCase() !== 'bearer' || rest.length > 0 || !form.test(raw)) throw malformed(authorization);
  const key = await keys.find(hashKey(raw), () => {
    if (unknownKeys.isOver(ipAddress)) throw new Problem('rate_limited');
  });
  if (!key) {
    unknownKeys.count(ipAddress);
    throw new Problem('api_key_invalid');
  }
  if (key.revokedAt) throw new Problem('api_key_revoked');
  return key;
}
