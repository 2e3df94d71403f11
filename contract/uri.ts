/** URLs as people type them, and URIs as RFC 3986 defines them: only the latter are stored and published. */

/** Scheme, authority (brackets only around an IP literal), path, query and fragment; `%` only before two hex digits. */
const uri =
  /^https?:\/\/(?:\[[0-9a-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[0-9a-f]{2})+)(?::\d*)?(?:\/(?:[\w.~!$&'()*+,;=:@/-]|%[0-9a-f]{2})*)?(?:\?(?:[\w.~!$&'()*+,;=:@/?-]|%[0-9a-f]{2})*)?(?:#(?:[\w.~!$&'()*+,;=:@/?-]|%[0-9a-f]{2})*)?$/i;

export const isUri = (text: string): boolean => uri.test(text);

/** Leaves a URI unchanged, and turns a URL into what a browser would request: an ASCII host, and `%3C` for `<`. */
export function asUri(text: string): string {
  if (isUri(text)) return text;
  const target = URL.parse(text);
  if (!target) return text;
  const { protocol, host, pathname, search, hash } = target;
  return `${protocol}//${host}${encoded(pathname)}${encoded(search)}${hash && `#${encoded(hash.slice(1))}`}`;
}

/** For a value stored before URLs were checked: the value as a URI, or null if it cannot be one. */
export function uriOrNull(text: string | null): string | null {
  const shown = text === null ? '' : asUri(text);
  return isUri(shown) ? shown : null;
}

/** Encodes the characters that URL.href leaves alone although a URI cannot contain them. */
const encoded = (part: string): string =>
  part.replaceAll(/%(?![0-9a-f]{2})|[^\w.~!$&'()*+,;=:@/?%-]/gi, (character) =>
    character === '%' ? '%25' : encodeURIComponent(character),
  );
