/** Authenticates a request: its Bearer key → the stored key, or the problem that says what is wrong. */
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { Problem } from '../problems/problem.ts';
import type { KeyDirectory } from './directory.ts';
import type { AuthenticatedKey } from './key-row.ts';

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
  [/^bearer\s+(?:\{\{|\$\{?\w|%\w+%$|<(?!ak_live_)\w|(?:ak_live_)?your_|ak_live_(?:…|\.\.\.|x+$))/i, 'placeholder'],
  [/^bearer\s+["'<]/i, 'quoted'],
] as const;

function malformed(authorization: string): Problem {
  const [, mistake = 'no_key' as const] = mistakes.find(([pattern]) => pattern.test(authorization)) ?? [];
  return new Problem('api_key_malformed', { mistake });
}

type Credentials = { headers: IncomingHttpHeaders; url: string };

/** A replaced key counts as revoked rather than expired: it has a successor. */
const hasExpired = ({ revokedAt, endsAt, replacedBy }: AuthenticatedKey) => replacedBy === null && revokedAt === endsAt;

/** Problems: api_key_revoked, api_key_expired. */
export function requireLive(key: AuthenticatedKey): void {
  if (key.revokedAt) throw new Problem(hasExpired(key) ? 'api_key_expired' : 'api_key_revoked');
}

/** The key of the request, which may no longer be live. Problems: api_key_missing, _malformed, _invalid. */
export async function authenticate({ headers, url }: Credentials, keys: KeyDirectory): Promise<AuthenticatedKey> {
  const authorization = headers.authorization?.trim();
  if (!authorization) throw missing(headers, url);
  const [scheme = '', raw = '', ...rest] = authorization.split(/\s+/);
  if (scheme.toLowerCase() !== 'bearer' || rest.length > 0 || !form.test(raw)) throw malformed(authorization);
  const key = await keys.find(hashKey(raw));
  if (!key) throw new Problem('api_key_invalid');
  return key;
}
