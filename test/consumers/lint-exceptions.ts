/** Recommended and OWASP rules that the documents break on purpose, with the reason for each. */
export type Exception = {
  rule: string;
  severity: 'error' | 'warning';
  reason: string;
  /** Only for a part that has this keyword with this value, or with any. */
  only?: { keyword: string; value?: string };
};

export const exceptions: Exception[] = [
  {
    rule: 'owasp:api8:2023-define-cors-origin',
    severity: 'error',
    reason:
      'The API is called by servers with a secret key: it sends no CORS headers, so no page of another origin can read a response.',
  },
  {
    rule: 'owasp:api4:2023-rate-limit',
    severity: 'error',
    reason:
      'The rule accepts either of two conventions, but rejects a response with both, as ours have (RateLimit and X-RateLimit-*). 401, 408 and 431 are sent before the key is known. openapi.test.ts checks the headers of every response.',
  },
  {
    rule: 'owasp:api4:2023-string-restricted',
    severity: 'warning',
    reason:
      'Names, notes and streets are free text in every script: a pattern would reject someone’s name. They are bounded in length.',
  },
  {
    rule: 'owasp:api3:2023-no-additionalProperties',
    severity: 'warning',
    reason: 'Metadata has the caller’s own keys; their number, form and values are bounded.',
  },
  {
    rule: 'owasp:api4:2023-string-limit',
    severity: 'error',
    only: { keyword: 'format', value: 'date-time' },
    reason: 'The format bounds the length, and generators apply a maxLength beside it to their own date type.',
  },
  {
    rule: 'owasp:api4:2023-string-limit',
    severity: 'error',
    only: { keyword: 'x-extensible-enum' },
    reason:
      'Values may be added to the enums of responses, and generated code rejects a value that `enum` does not list.',
  },
  {
    rule: 'owasp:api9:2023-inventory-environment',
    severity: 'error',
    reason:
      'Every installation serves this document, even at http://localhost, so it does not know which environment it is.',
  },
];
