/** The replies of handlers, ready to send: status, body and the values of headers. */
import { etagOf } from './conditional.ts';

export type Reply<Status extends number, Body> = {
  status: Status;
  body: Body;
  /** The body as it is sent: serialized once, for the ETag and the wire. */
  text: string;
  etag?: string;
  /** Path of a new record, for `Location`. */
  location?: string;
  /** URL of the next page, for `Link`. */
  next?: string | null;
  /** Whether this is the stored response to an earlier request with the same Idempotency-Key. */
  replayed?: boolean;
};

/** A single record, with its ETag. */
export function record<Body extends object>(body: Body): Reply<200, Body> {
  const text = JSON.stringify(body);
  return { status: 200, body, text, etag: etagOf(text) };
}

/** A new record, whose `Location` is below `path`. */
export function created<Body extends { id: string }>(body: Body, path: string): Reply<201, Body> {
  return { ...record(body), status: 201, location: `${path}/${body.id}` };
}

/** A page of a list, with the link to the next page. */
export function page<Body extends { pagination: { nextUrl: string | null } }>(body: Body): Reply<200, Body> {
  return { status: 200, body, text: JSON.stringify(body), next: body.pagination.nextUrl };
}

/** Any other body, without an ETag. */
export const plain = <Body extends object>(body: Body): Reply<200, Body> => ({
  status: 200,
  body,
  text: JSON.stringify(body),
});

/** A stored response, byte for byte. */
export function replay<Status extends 200 | 201, Body>(
  status: Status,
  text: string,
  location: string | null,
): Reply<Status, Body> {
  // The same operation has sent this text before.
  const body = JSON.parse(text) as Body;
  return { status, body, text, etag: etagOf(text), replayed: true, ...(location !== null && { location }) };
}
