/** The URL of a request. Nothing that a caller passes can turn it into another route. */

/** The service's URL without `/v1` or a trailing slash. Throws a TypeError for anything but an http(s) URL. */
export function serviceUrl(baseUrl: unknown): string {
  const url = typeof baseUrl === 'string' ? parseUrl(baseUrl) : undefined;
  if (!url) throw new TypeError('baseUrl must be the URL of the API, such as https://api.example.com');
  if (!/^https?:$/.test(url.protocol)) throw new TypeError('baseUrl must start with https:// or http://');
  if (url.username || url.password || url.search || url.hash) {
    throw new TypeError('baseUrl must not contain a user name, password, query or fragment');
  }
  return url.origin + url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '').replace(/\/+$/, '');
}

function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** `/v1/customers/:customerId` with its parameters filled in and encoded. Throws a TypeError for what cannot be an id. */
export function fillPath(path: string, ids: readonly unknown[]): string {
  let index = 0;
  return path.replace(/:(\w+)/g, (_, name: string) => {
    const id = ids[index];
    index += 1;
    // As path segments, `.` and `..` mean other routes, even when they are encoded. Half a surrogate pair has no encoding.
    if (typeof id !== 'string' || id === '' || id === '.' || id === '..' || /\p{Surrogate}/u.test(id)) {
      throw new TypeError(`${name} must be the id of a record: a well-formed string other than "", "." and ".."`);
    }
    return encodeURIComponent(id);
  });
}

/**
 * `?a=1&status=sent%2Cviewed&metadata%5Bk%5D=v`, or an empty string. Only `undefined` omits a parameter: an empty list
 * or `null` is sent as an empty value, which the server rejects, instead of silently widening the search.
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

/** Not a Map, URLSearchParams or Temporal.Instant: their entries would be dropped silently. */
export const isPlainObject = (value: unknown): value is object =>
  Object.prototype.toString.call(value) === '[object Object]';

/** RFC 3339. */
export function timeText(date: Date): string {
  if (Number.isNaN(date.getTime())) throw new TypeError('A time must be a valid Date or a string, not Invalid Date');
  return date.toISOString();
}

function append(parameters: URLSearchParams, name: string, given: unknown): void {
  // What the methods' types allow; the server explains what is wrong with anything else.
  const value = given as string | number | boolean | Date | readonly string[] | null | undefined;
  if (value === undefined) return;
  parameters.append(name, value instanceof Date ? timeText(value) : String(value ?? ''));
}
