/** URLs as people type them, and URIs as RFC 3986 defines them: what is stored and published is always the latter. */

/** Scheme, authority with at most an IP literal in brackets, path, query and fragment; `%` always before two digits. */
const uri =
  /^https?:\/\/(?:\[[0-9a-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[0-9a-f]{2})+)(?::\d*)?(?:\/(?:[\w.~!$&'()*+,;=:@/-]|%[0-9a-f]{2})*)?(?:\?(?:[\w.~!$&'()*+,;=:@/?-]|%[0-9a-f]{2})*)?(?:#(?:[\w.~!$&'()*+,;=:@/?-]|%[0-9a-f]{2})*)?$/i;

export const isUri = (text: string): boolean => uri.test(text);

/** As it is if it is a URI, otherwise as a browser would request it: its host in ASCII, other characters as `%3C`. */
export function asUri(text: string): string {
  if (isUri(text)) return text;
  const target = URL.parse(text);
  if (!target) return text;
  const { protocol, host, pathname, search, hash } = target;
  return `${protocol}//${host}${encoded(pathname)}${encoded(search)}${hash && `#${encoded(hash.slice(1))}`}`;
}

/** What was stored before texts were checked: as a URI, or null where it cannot be one. */
export function uriOrNull(text: string | null): string | null {
  const shown = text === null ? '' : asUri(text);
  return isUri(shown) ? shown : null;
}

/** What URL.href leaves as it is, although a URI cannot contain it. */
const encoded = (part: string): string =>
  part.replaceAll(/%(?![0-9a-f]{2})|[^\w.~!$&'()*+,;=:@/?%-]/gi, (character) =>
    character === '%' ? '%25' : encodeURIComponent(character),
  );
