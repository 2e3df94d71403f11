/** What each code means and what to do about it, as Markdown. A code without an entry does not compile. */
import type { FieldCode, ProblemCode } from '../../../contract/problem.ts';

type Entry = { meaning: string; remedy: string };

export const problemEntries: Record<ProblemCode, Entry> = {
  malformed_request: {
    meaning:
      'What arrived is no valid HTTP/1.1 request: no `Host`, a broken line, or a body that is not as long as it says.',
    remedy:
      'Look at what stands between you and the server; a proxy or a hand-written client builds the request wrongly.',
  },
  malformed_json: {
    meaning: 'The body is missing, empty, no JSON, not UTF-8, or nested deeper than 20 levels.',
    remedy:
      'Let a JSON library write the body. The usual causes are single quotes, a comma after the last field, and a quote or line break in a text that was pasted into a template.',
  },
  invalid_parameter: {
    meaning: 'A query parameter has a value that it cannot have. Values are never clamped or guessed.',
    remedy:
      '`errors[].message` says what it must be. An empty value is wrong as well: leave the parameter out instead.',
  },
  unknown_parameter: {
    meaning:
      'There is no such query parameter here. It is refused, because a filter that is ignored in silence returns the wrong records.',
    remedy: 'Correct the name; `errors[].suggestion` has the nearest one. Names are case-sensitive.',
  },
  duplicate_parameter: {
    meaning: 'A query parameter that has one value was given twice.',
    remedy: 'Send it once. If you follow `pagination.nextUrl`, add no parameters to it: it has what it needs.',
  },
  invalid_cursor: {
    meaning: 'The cursor was changed or cut off on the way, or it belongs to another list or another organization.',
    remedy: 'Start again without `cursor`. Pass cursors on exactly as they came, percent-encoded in an address.',
  },
  cursor_mismatch: {
    meaning: 'A filter or `sort` differs from those that the cursor was made with.',
    remedy:
      'Repeat them unchanged or leave them out; to ask something else, start without a cursor. `limit` and `include` may change.',
  },
  invalid_header: {
    meaning: '`Idempotency-Key`, `If-Match` or `If-None-Match` is not well-formed.',
    remedy:
      'An Idempotency-Key is 1 to 255 printable ASCII characters. ETags are sent as they came, with their double quotes.',
  },
  api_key_missing: {
    meaning: 'The request has no `Authorization` header.',
    remedy:
      'Send `Authorization: Bearer ak_live_…`. A key in the address or in `X-API-Key` is not read; one that stood in an address should be revoked, because addresses are logged.',
  },
  api_key_malformed: {
    meaning: 'The `Authorization` header is there, but not as `Bearer`, one space, and a key.',
    remedy:
      '`detail` names the mistake: `Bearer` missing or doubled, quotes, upper case. A key is `ak_live_` and 64 of `0-9a-f`.',
  },
  api_key_invalid: {
    meaning: 'There is no such key.',
    remedy:
      'Check that it was copied whole. A key is shown only once; a lost one is replaced: create another, revoke the old one.',
  },
  api_key_revoked: {
    meaning: 'An admin of the organization revoked the key.',
    remedy: 'Ask for another key. Do not retry with this one: it stays revoked.',
  },
  plan_required: {
    meaning: 'The key is fine, but its organization is not on the Team plan.',
    remedy: 'Ask an admin to upgrade. The same key works again after that; nothing has to be connected anew.',
  },
  not_found: {
    meaning:
      'There is no record with this id in the organization of the key. A mistyped id and another organization’s id look the same.',
    remedy: 'Check the id, and with `GET /v1/me` which organization the key belongs to.',
  },
  route_not_found: {
    meaning: 'There is nothing at this address.',
    remedy: 'Compare it with the [reference](/docs/reference). Paths start with `/v1` and are lower case.',
  },
  method_not_allowed: {
    meaning: 'The address exists, but not with this method. Proposals are read-only, for example.',
    remedy:
      'The `Allow` header has the methods that there are. v1 has no DELETE: a customer is retired with `"status": "archived"`.',
  },
  request_timeout: {
    meaning: 'The request did not arrive completely in time.',
    remedy: 'Send it again; see [Retries and idempotency](retries-and-idempotency.md).',
  },
  external_id_taken: {
    meaning: 'Another record of this kind already has this `externalId`. `existingId` is its id.',
    remedy: 'Use that record, or send the create with `onConflict=return` or, for customers, `onConflict=update`.',
  },
  sku_taken: {
    meaning: 'Another item already has this `sku`; case does not count. `existingId` is its id.',
    remedy: 'Use that item, or choose another sku. `onConflict` is about `externalId` and does not help here.',
  },
  idempotency_in_progress: {
    meaning: 'An earlier request with this `Idempotency-Key` is still being worked on.',
    remedy: 'Wait for `Retry-After` (1 second) and send the same again: you get the answer of the first.',
  },
  precondition_failed: {
    meaning:
      'The record has changed since you read it: its ETag is none of those in `If-Match`. `currentEtag` has the one of now.',
    remedy: 'Read the record again, decide anew, and send the change with the new ETag.',
  },
  payload_too_large: {
    meaning: 'The body is larger than 256 KiB.',
    remedy:
      'No record needs as much. Send one record per request; for many, see [Moving from another tool](import.md).',
  },
  unsupported_media_type: {
    meaning: 'The body is not announced as JSON in UTF-8, or it is compressed.',
    remedy:
      'Send `Content-Type: application/json` and no `Content-Encoding`. PATCH takes `application/merge-patch+json` too.',
  },
  validation_failed: {
    meaning:
      'The body is JSON, but fields of it are wrong. `errors` lists all of them, up to 50, each with one of the [codes of fields](#codes-of-fields).',
    remedy: 'Correct every field that `errors` names; `pointer` says where it stands.',
  },
  idempotency_key_reused: {
    meaning: 'Within the last 24 hours this `Idempotency-Key` was used for another body.',
    remedy:
      'Use one key for one record. If the body is meant to differ, it is another request: give it a key of its own.',
  },
  rate_limited: {
    meaning: 'The key has made 100 requests within 60 seconds. This one was not carried out, and not counted.',
    remedy: 'Wait for `Retry-After` (60 seconds) and go on; see [Rate limit](rate-limit.md).',
  },
  headers_too_large: {
    meaning: 'The address and the headers together are too large.',
    remedy: 'Shorten the query, or send fewer headers and cookies; no request to this API needs so many.',
  },
  internal_error: {
    meaning: 'Something went wrong on our side.',
    remedy: 'Try again with growing pauses; if it stays, send `requestId` to support: it leads to the cause.',
  },
  unavailable: {
    meaning: 'The service cannot reach its database at the moment.',
    remedy: 'Wait for `Retry-After` (5 seconds) and try again.',
  },
};

export const fieldEntries: Record<FieldCode, Entry> = {
  required: { meaning: 'The field must be there.', remedy: 'Give it a value.' },
  invalid_type: {
    meaning:
      'The value is of another type than the field: a number for a text, `null` where there must be a value, no RFC 3339 time.',
    remedy: 'Send the type that `message` names.',
  },
  too_short: {
    meaning: 'The text is empty or too short.',
    remedy: 'In a PATCH, leave the field out to keep its value and send `null` to clear it.',
  },
  too_long: {
    meaning: 'The text has more characters than the field holds.',
    remedy: 'Shorten it; the limits stand in the [reference](/docs/reference).',
  },
  invalid_email: {
    meaning: 'The text is not one e-mail address.',
    remedy: 'Send the bare address, without a name and without a second one.',
  },
  invalid_url: {
    meaning: 'The text is not an absolute URL with an allowed scheme.',
    remedy: 'Begin with `https://`; a website may be `http://` too.',
  },
  invalid_country: {
    meaning: 'The text is no ISO 3166-1 alpha-2 code.',
    remedy: 'Send `DE`, not `Germany`; `GB`, not `UK`.',
  },
  invalid_currency: { meaning: 'The text is no ISO 4217 code in upper case.', remedy: 'Send `USD`, not `usd` or `$`.' },
  invalid_decimal: {
    meaning: 'The text is not a decimal number.',
    remedy: 'Digits and one dot: `"1250.00"`. No thousands separator, no comma, no exponent, no currency sign.',
  },
  too_many_decimals: {
    meaning: 'The number has more than 4 decimals.',
    remedy: 'Round it, and send it as a string; see [Money](money.md).',
  },
  out_of_range: { meaning: 'The number is below or above what the field holds.', remedy: '`message` has both bounds.' },
  invalid_enum: {
    meaning: 'The value is none of the field’s own.',
    remedy: '`message` lists them; `suggestion` has the nearest.',
  },
  unknown_field: {
    meaning: 'The record has no such field. It is refused, so that nothing you send is lost in silence.',
    remedy: 'Correct the name; `suggestion` has the nearest. Data of your own goes into `metadata`.',
  },
  read_only_field: {
    meaning: 'The server sets this field.',
    remedy:
      'Leave it out. A PATCH may carry it while it has the stored value, so that a record can be sent back whole.',
  },
  invalid_characters: {
    meaning: 'The text has control characters or half of a surrogate pair.',
    remedy: 'Remove them; long texts may have tabs and line breaks.',
  },
  too_many_items: {
    meaning: 'The list or `metadata` has more entries than allowed.',
    remedy: '`message` has the limit.',
  },
  duplicate_item: { meaning: 'The list has the same entry twice; case does not count.', remedy: 'Send each once.' },
};
