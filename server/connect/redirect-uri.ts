/**
 * Where an authorization code may be sent: to an https URL, or to a program on the person's own computer (RFC 8252). No
 * other schemes, because any program can register one.
 */
const longest = 500;
const loopback = ['localhost', '127.0.0.1', '[::1]'];
/** A host that people can recognize: a URL allows `;` and `,` in one. */
const plainHost = /^(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])$/;

export const isLoopback = ({ hostname }: Pick<URL, 'hostname'>): boolean => loopback.includes(hostname);

export function isRedirectUri(text: string): boolean {
  const url = text.length <= longest && !/[\s#\\]/.test(text) ? URL.parse(text) : null;
  if (!url || url.username !== '' || url.password !== '' || !plainHost.test(url.hostname)) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));
}

/** Must match one of the client's exactly, but a program on the person's computer may choose a new port each time. */
export function isRegistered(requested: string, registered: readonly string[]): boolean {
  if (!isRedirectUri(requested)) return false;
  const local = anyPort(requested);
  return registered.some((one) => one === requested || (local !== undefined && anyPort(one) === local));
}

function anyPort(text: string): string | undefined {
  const url = new URL(text);
  if (url.protocol !== 'http:' || !isLoopback(url)) return undefined;
  url.port = '';
  return url.href;
}

/** The part of a redirect URI that people recognize. */
export const hostOf = (redirectUri: string): string => {
  const url = new URL(redirectUri);
  return isLoopback(url) ? url.hostname : url.host;
};
