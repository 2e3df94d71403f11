/** Problems of the settings pages, and of the commands that do the same. They are for people, and not in the contract. */
import type { Row } from '../../contract/problems/row.ts';

type Facts = {
  /** One or two sentences: what is wrong, then what to do. */
  sentence: string;
  /** The field of the form that is wrong. */
  field?: string;
  retryAfterSeconds?: number;
};

const row = (status: number, title: string): Row<number, Facts> => ({
  status,
  title,
  detail: ({ sentence }) => sentence,
  errors: ({ sentence, field }) =>
    field === undefined ? [] : [{ in: 'body', field, pointer: `/${field}`, code: 'invalid', message: sentence }],
  headers: ({ retryAfterSeconds }): Record<string, string> =>
    retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) },
});

export const settingsProblems = {
  unreadable: row(400, 'Invalid request'),
  forged: row(403, 'You cannot do this'),
  role: row(403, 'You cannot do this'),
  plan: row(403, 'You cannot do this'),
  unknown: row(404, 'Page not found'),
  switched: row(409, 'You have switched organizations'),
  repeated: row(409, 'This page is out of date'),
  taken: row(409, 'This is already taken'),
  too_large: row(413, 'This form is too large'),
  invalid: row(422, 'Check the form'),
  limit: row(422, 'Limit reached'),
  last_admin: row(422, 'An organization needs an admin'),
  too_many: row(429, 'Try again later'),
  busy: row(503, 'Try again later'),
  provider_away: row(503, 'Single sign-on is unavailable'),
  no_space: row(507, 'No space left'),
};

export type SettingsCode = keyof typeof settingsProblems;
