/** Why a person's request in the settings or on the command line was rejected. */

const statuses = {
  unreadable: 400,
  forged: 403,
  role: 403,
  plan: 403,
  unknown: 404,
  repeated: 409,
  taken: 409,
  invalid: 422,
  limit: 422,
  last_admin: 422,
  password: 422,
  too_many: 429,
} as const;

export type RejectionReason = keyof typeof statuses;

/** The message is one or two sentences for that person: what is wrong, then what to do. */
export class Rejection extends Error {
  readonly reason: RejectionReason;
  /** The field of the form that is wrong. */
  readonly field: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    reason: RejectionReason,
    message: string,
    { field, retryAfterSeconds }: { field?: string; retryAfterSeconds?: number } = {},
  ) {
    super(message);
    this.name = 'Rejection';
    this.reason = reason;
    this.field = field;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  get status(): number {
    return statuses[this.reason];
  }
}
