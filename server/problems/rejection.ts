/** Why a request in the settings or a command was rejected; the API's own problems are in the contract. */

const kinds = {
  unreadable: { status: 400, title: 'This request could not be read' },
  forged: { status: 403, title: 'You cannot do this' },
  role: { status: 403, title: 'You cannot do this' },
  plan: { status: 403, title: 'You cannot do this' },
  unknown: { status: 404, title: 'Page not found' },
  repeated: { status: 409, title: 'This was already done' },
  taken: { status: 409, title: 'This is already taken' },
  too_large: { status: 413, title: 'This form is too large' },
  invalid: { status: 422, title: 'This form needs a correction' },
  limit: { status: 422, title: 'There is no room for more' },
  last_admin: { status: 422, title: 'An organization needs an admin' },
  password: { status: 422, title: 'This password cannot be used' },
  too_many: { status: 429, title: 'Too many attempts' },
  provider_away: { status: 503, title: 'Single sign-on is unavailable' },
} as const;

export type RejectionReason = keyof typeof kinds;

/** The message is one or two sentences for that person: what is wrong, then what to do. */
export class Rejection extends Error {
  readonly reason: RejectionReason;
  readonly status: number;
  readonly title: string;
  /** The field of the form that is wrong. */
  readonly field: string | undefined;
  readonly headers: Record<string, string>;

  constructor(
    reason: RejectionReason,
    sentence: string,
    { field, retryAfterSeconds }: { field?: string; retryAfterSeconds?: number } = {},
  ) {
    super(sentence);
    this.reason = reason;
    this.status = kinds[reason].status;
    this.title = kinds[reason].title;
    this.field = field;
    this.headers = retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) };
  }
}
