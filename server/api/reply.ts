/** The replies of handlers, ready to send: status, body and the values of headers. */

export type Reply<Status extends number, Body, Text = string> = {
  status: Status;
  body: Body;
  /** The body as sent, serialized once. A page is in pieces, because one string of many megabytes blocks the event loop. */
  text: Text;
  /** Of a page: only the texts of its records. */
  records?: readonly string[];
  etag?: string;
  /** Path of a new record, for `Location`. */
  location?: string;
  /** URL of the next page, for `Link`. */
  next?: string | null;
  /** Whether this is the stored response to an earlier request with the same Idempotency-Key. */
  replayed?: boolean;
};

/** A single record, with its ETag. */
export const record = <Body extends { etag: string }>(body: Body): Reply<200, Body> => ({
  status: 200,
  body,
  text: JSON.stringify(body),
  etag: body.etag,
});

/** A new record, whose `Location` is below `path`. */
export function created<Body extends { id: string; etag: string }>(body: Body, path: string): Reply<201, Body> {
  return { ...record(body), status: 201, location: `${path}/${body.id}` };
}

/** A page of a list, with the link to the next page, from the texts of its records. */
export function page<Body extends { data: readonly unknown[]; pagination: { nextUrl: string | null } }>(
  records: readonly string[],
  rest: Omit<Body, 'data'> & Pick<Body, 'pagination'>,
): Reply<200, Body, readonly string[]> {
  const separated = records.map((text, index) => (index === 0 ? text : `,${text}`));
  const text = ['{"data":[', ...separated, `],${JSON.stringify(rest).slice(1)}`];
  // It parses to what was serialized.
  const body = Object.assign(new Parsed(records), rest) as unknown as Body;
  return { status: 200, body, text, records, next: rest.pagination.nextUrl };
}

/** Over HTTP, only the text is needed. A class, because a getter on each body would keep the texts alive until a full GC. */
class Parsed {
  readonly #records: readonly string[];

  constructor(records: readonly string[]) {
    this.#records = records;
  }

  get data(): unknown[] {
    return this.#records.map((text) => JSON.parse(text));
  }
}

/** Any other body, without an ETag. */
export const plain = <Body extends object>(body: Body): Reply<200, Body> => ({
  status: 200,
  body,
  text: JSON.stringify(body),
});
