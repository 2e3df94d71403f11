/** Who is calling: the Bearer key of a request → its key, or the problem that says what is wrong with it. */
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { ProblemCode } from '../../contract/problem.ts';
import { Problem } from '../problems/problem.ts';
import type { KeyDirectory, AuthenticatedKey } from './directory.ts';

const form = /^ak_live_[0-9a-f]{64}$/;

/** A key is 256 random bits: a plain SHA-256 cannot be guessed from, and costs a microsecond. */
export const hashKey = (raw: string): string => hash('sha256', raw, 'hex');

function refuse(code: ProblemCode, detail: string): never {
  throw new Problem(code, detail, { headers: { 'WWW-Authenticate': 'Bearer realm="api"' } });
}

const expected = 'Send `Authorization: Bearer ak_live_…` with one of your organization’s API keys';

function missing(headers: IncomingHttpHeaders, query: string): never {
  if (headers['x-api-key'] !== undefined) refuse('api_key_missing', `${expected}; the X-API-Key header is not read.`);
  if (/ak_live_|(^|[?&])(api_?key|access_token|token|key)=/i.test(query)) {
    refuse(
      'api_key_missing',
      `${expected}; a key in the address is not read, and should be revoked, because addresses are logged.`,
    );
  }
  refuse('api_key_missing', `${expected}.`);
}

/** The usual mistakes, the first that fits. */
const mistakes: [RegExp, string][] = [
  [/^bearer\s+bearer\b/i, 'the word Bearer stands there twice'],
  [/^ak_live_/i, 'the word Bearer is missing before the key'],
  [/^(?!bearer\b)/i, 'the scheme must be Bearer'],
  [/^bearer\s+ak_live_[0-9a-f]{64}$/i, 'the key must be in lower case'],
  [/^bearer\s+["'<]/i, 'the key must stand there without quotes or brackets'],
  [/^/, 'a key is ak_live_ and 64 hexadecimal characters'],
];

function malformed(authorization: string): never {
  const [, hint = ''] = mistakes.find(([pattern]) => pattern.test(authorization)) ?? [];
  refuse('api_key_malformed', `${expected}: ${hint}.`);
}

/** The live key of the request. Problems: api_key_missing, api_key_malformed, api_key_invalid, api_key_revoked. */
export async function authenticate(
  headers: IncomingHttpHeaders,
  query: string,
  keys: KeyDirectory,
): Promise<AuthenticatedKey> {
  const authorization = headers.authorization?.trim();
  if (!authorization) missing(headers, query);
  const [scheme = '', raw = '', ...rest] = authorization.split(/ +/);
  if (scheme.toLowerCase() !== 'bearer' || rest.length > 0 || !form.test(raw)) malformed(authorization);
  const key = await keys.find(hashKey(raw));
  if (!key)
    refuse(
      'api_key_invalid',
      'This API key does not exist. Check that it was copied whole, or create another in Settings, API Keys.',
    );
  if (key.revokedAt) refuse('api_key_revoked', 'This API key was revoked. Create another in Settings, API Keys.');
  return key;
}
