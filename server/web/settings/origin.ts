/** Whether a form was sent from a page of this service. */
import { isIP } from 'node:net';
import type { Request } from 'express';

/**
 * Browsers send a form's origin. The Host header alone proves nothing: it contains any name that resolves to this server,
 * and another site can make its own name do so. It counts only if it is a name of this service.
 */
export function isFromOurPage(request: Pick<Request, 'headers' | 'socket'>, publicUrl: string): boolean {
  const { origin, host = '', 'sec-fetch-site': site } = request.headers;
  if (site !== undefined && site !== 'same-origin') return false;
  const ownHosts = hostsOf(request, publicUrl);
  if (origin === undefined) return site === 'same-origin' && ownHosts.includes(host.toLowerCase());
  const sender = URL.parse(origin);
  return sender?.protocol === new URL(publicUrl).protocol && ownHosts.includes(sender.host);
}

/**
 * The names of this service: that of its URL, and, if the URL is a name of this machine itself (no PUBLIC_URL is set),
 * the machine's other names for itself on the same port.
 */
function hostsOf({ socket }: Pick<Request, 'socket'>, publicUrl: string): string[] {
  const { host, hostname, port } = new URL(publicUrl);
  if (!isOwnName(hostname)) return [host];
  const own = ['localhost', '127.0.0.1', '[::1]', localAddress(socket.localAddress)];
  return [host, ...own.map((name) => (port === '' ? name : `${name}:${port}`))];
}

const isOwnName = (hostname: string) => hostname === 'localhost' || isIP(hostname.replaceAll(/^\[|\]$/g, '')) !== 0;

/** The host that the request was sent to, as in a URL. */
function localAddress(address = ''): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '');
  return isIP(plain) === 6 ? `[${plain}]` : plain;
}
