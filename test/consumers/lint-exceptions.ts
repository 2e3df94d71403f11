/** What the linters' recommended and OWASP rules want and the documents do not have, with the reason for each. */
type Exception = { rule: string; severity: 'error' | 'warning'; reason: string };

export const exceptions: Exception[] = [
  {
    rule: 'owasp:api8:2023-define-cors-origin',
    severity: 'error',
    reason:
      'The API is called by servers with a secret key: it sends no CORS headers, so that no page of another origin can read a response.',
  },
  {
    rule: 'owasp:api4:2023-rate-limit',
    severity: 'error',
    reason:
      'It accepts one of two conventions, and rejects a response with both, as ours have (RateLimit and X-RateLimit-*). 401, 408 and 431 are sent before the key is known. openapi.test.ts checks the headers of every response.',
  },
  {
    rule: 'owasp:api4:2023-string-restricted',
    severity: 'warning',
    reason:
      'Names, notes and streets are free text in every script: a pattern would reject somebody’s name. They are bounded in length.',
  },
  {
    rule: 'owasp:api3:2023-no-additionalProperties',
    severity: 'warning',
    reason: 'Metadata are the caller’s own keys; their number, their form and their values are bounded.',
  },
];
