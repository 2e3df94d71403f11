/** What the linters' recommended and OWASP rules ask for and the documents do not have, with the reason for each. */
type Exception = { rules: string[]; at: RegExp; reason: string };

const anywhere = /^/;
/** Inside what is answered: answers, their headers, and the components that only answers use. */
const answers =
  /\/responses\/|^#\/components\/(?:headers|schemas\/(?:Me|Problem|ProblemError|Pagination|\w+List|Customer|CustomerSummary|Address|Item|LineItem|ListedProposal|Proposal)\/)/;

export const exceptions: Exception[] = [
  {
    rules: ['owasp:api9:2023-inventory-access'],
    at: anywhere,
    reason: '`x-internal` is a Stoplight extension; whether a server is internal is the operator’s to say.',
  },
  {
    rules: ['owasp:api8:2023-define-cors-origin'],
    at: anywhere,
    reason:
      'The API is called by servers with a secret key: it sends no CORS headers, so that no page of another origin can read an answer.',
  },
  {
    rules: ['owasp:api4:2023-rate-limit'],
    at: anywhere,
    reason:
      'It wants one of two conventions, and refuses an answer that has both, as ours do (RateLimit, and X-RateLimit-*). 401, 408 and 431 are sent before the key is known. openapi.test.ts checks the headers of every answer.',
  },
  {
    rules: ['owasp:api4:2023-integer-format'],
    at: anywhere,
    reason: 'int32 and int64 say less than the bounds that stand there, and are no formats of JSON Schema 2020-12.',
  },
  {
    rules: ['owasp:api4:2023-integer-limit', 'owasp:api4:2023-integer-limit-legacy'],
    at: answers,
    reason: 'Limits and seconds that the server answers: their maximum is the operator’s configuration, and no input.',
  },
  {
    rules: ['owasp:api4:2023-string-limit'],
    at: answers,
    reason:
      'An answer is no input to be bounded; a maximum there would be a promise that a later release cannot widen.',
  },
  {
    rules: ['owasp:api4:2023-string-limit'],
    at: /\/parameters\/\d+\/schema$/,
    reason:
      'Times are bounded by their format, and an id of any text is an unknown one (404); the address as a whole is bounded by the server.',
  },
  {
    rules: ['owasp:api4:2023-string-restricted'],
    at: anywhere,
    reason:
      'Names, notes and streets are free text in every script: a pattern would refuse somebody’s name. They are bounded in length.',
  },
  {
    rules: ['owasp:api3:2023-no-additionalProperties'],
    at: /\/metadata\/|\/parameters\//,
    reason: 'Metadata are the caller’s own keys; their number, their form and their values are bounded.',
  },
];
