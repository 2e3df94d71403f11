/** The address of a request: nothing that a caller gives can make it another route. */

/** Scheme, host and path of the service, without `/v1` and without a slash at the end; a TypeError for what is no http(s) URL. */
export function serviceAddress(baseUrl: string): string {
  let url: URL;
  try {
    url = new URL(baseUrl);
  } catch {
    throw new TypeError('baseUrl must be the address of the API, such as https://api.example.com');
  }
  if (!/^https?:$/.test(url.protocol)) throw new TypeError('baseUrl must start with https:// or http://');
  if (url.username || url.password || url.search || url.hash) {
    throw new TypeError('baseUrl must have no user, password, query or fragment');
  }
  return url.origin + url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '').replace(/\/+$/, '');
}

/** `/v1/customers/:customerId` with its parameters filled in, encoded; a TypeError for an id that can be no record's. */
export function fillPath(path: string, ids: readonly unknown[]): string {
  let index = 0;
  return path.replace(/:(\w+)/g, (_, name: string) => {
    const id = ids[index];
    index += 1;
    // As a path segment `.` and `..` mean other routes, encoded or not.
    if (typeof id !== 'string' || id === '' || id === '.' || id === '..') {
      throw new TypeError(`${name} must be the id of a record: a string that is not empty, "." or ".."`);
    }
    return encodeURIComponent(id);
  });
}

/**
 * `?a=1&status=sent%2Cviewed&metadata%5Bk%5D=v`, or nothing. Only `undefined` leaves a parameter out: an empty list or a
 * null is sent as an empty value, which the server refuses, rather than widening the search in silence.
 */
export function queryString(query: Record<string, unknown>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (isPlainObject(value)) {
      for (const [key, part] of Object.entries(value)) append(parameters, `${name}[${key}]`, part);
    } else append(parameters, name, value);
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function append(parameters: URLSearchParams, name: string, given: unknown): void {
  // What the methods' types let through; of anything else the server says what is wrong with it.
  const value = given as string | number | boolean | Date | readonly string[] | null | undefined;
  if (value === undefined) return;
  parameters.append(name, value instanceof Date ? value.toISOString() : String(value ?? ''));
}
