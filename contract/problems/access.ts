/** Problems with access: the key, the plan and the rate limit. */
import { rateLimit, retryAfter } from '../limits.ts';
import { plainRow, row } from './row.ts';

const { limit, windowSeconds } = rateLimit;
const challenge = () => ({ 'WWW-Authenticate': 'Bearer realm="api"' });
/** For requests that have a token (RFC 6750, 3.1). */
const rejected = () => ({ 'WWW-Authenticate': 'Bearer realm="api", error="invalid_token"' });
const send = 'Send `Authorization: Bearer ak_live_…`';
const sendKey = `${send} with one of your organization’s API keys.`;
const createKey = 'create another under Settings > API Keys';

const elsewhere = {
  x_api_key: `The X-API-Key header is not read. ${send} instead.`,
  url: `A key in the URL is not accepted, and should be revoked because URLs are logged. ${send} with a new key instead.`,
};

const mistakes = {
  bearer_twice: `\`Bearer\` appears twice in the Authorization header. ${send}.`,
  no_bearer: `Bearer is missing before the key. ${send}.`,
  other_scheme: `The Authorization scheme must be Bearer. ${send}.`,
  upper_case: 'The key must be in lower case. Send it exactly as it was displayed.',
  quoted: 'The key must not be in quotes or brackets. Send it exactly as it was displayed.',
  placeholder: 'The key is still a placeholder. Replace it with your API key; in Postman, set the variable.',
  no_key: `The key is malformed: it must be ak_live_ followed by 64 hexadecimal characters. ${send}.`,
};

export const accessProblems = {
  api_key_missing: row({
    status: 401,
    title: 'API key missing',
    detail: ({ found }: { found?: keyof typeof elsewhere | undefined }) => (found ? elsewhere[found] : sendKey),
    headers: challenge,
    meaning: 'The request has no `Authorization` header.',
    remedy: `${send}. A key in the URL or in \`X-API-Key\` is not read. Revoke a key that was sent in a URL, because URLs are logged.`,
    example: {},
  }),
  api_key_malformed: row({
    status: 401,
    title: 'API key malformed',
    detail: ({ mistake }: { mistake: keyof typeof mistakes }) => mistakes[mistake],
    headers: ({ mistake }) => (/^(?:no_bearer|other_scheme)$/.test(mistake) ? challenge() : rejected()),
    meaning: 'The `Authorization` header is not `Bearer`, one space, and a key.',
    remedy:
      '`detail` names the mistake: `Bearer` missing or repeated, quotes, upper case. A key is `ak_live_` followed by 64 characters from `0-9a-f`.',
    example: { mistake: 'bearer_twice' },
  }),
  api_key_invalid: plainRow({
    status: 401,
    title: 'API key invalid',
    detail: `This API key does not exist. Check that you copied all of it, or ${createKey}.`,
    headers: rejected,
    meaning: 'No such key exists.',
    remedy:
      'Check that you copied all of it. A key is displayed only once. To replace a lost one, create another and revoke the old one.',
  }),
  api_key_revoked: plainRow({
    status: 401,
    title: 'API key revoked',
    detail: `This API key was revoked or replaced. Use the key that replaced it, or ${createKey}.`,
    headers: rejected,
    meaning:
      'An admin of the organization revoked or replaced the key, or the application that it was issued to has disconnected.',
    remedy: 'Use the key that replaced it, or ask for another. A revoked key cannot be reactivated.',
  }),
  api_key_expired: plainRow({
    status: 401,
    title: 'API key expired',
    detail: `This API key has expired. To continue, ${createKey}.`,
    headers: rejected,
    meaning: 'The key was created with an expiry, which has passed.',
    remedy: 'Ask for another key. An expired key cannot be extended.',
  }),
  plan_required: row({
    status: 403,
    title: 'Team plan required',
    detail: ({ contact }: { contact?: string | undefined }) =>
      `API access requires the Team plan. After the organization upgrades, the same key works again. To upgrade${contact === undefined ? ', ask the operator of this service.' : `: ${contact}`}`,
    meaning: 'The key is valid, but the organization is not on the Team plan.',
    remedy:
      'An admin of the organization can ask the operator of the service to upgrade it; `detail` says how, if the operator has configured it. The same key then works again; you do not have to reconnect anything.',
    example: {},
  }),
  rate_limited: plainRow({
    status: 429,
    title: 'Too many requests',
    detail: `Rate limit exceeded: ${limit} requests per ${windowSeconds} seconds. Retry after ${retryAfter.rateLimited} seconds.`,
    headers: () => ({ 'Retry-After': String(retryAfter.rateLimited) }),
    meaning: `The key has made ${limit} requests in the last ${windowSeconds} seconds. This request was not processed and does not count.`,
    remedy: `Wait for \`Retry-After\` (${retryAfter.rateLimited} seconds), then continue; see [Rate limit](rate-limit.md).`,
  }),
};
