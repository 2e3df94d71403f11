/** The unit in which limits by IP address count: a network. */
import { isIPv6 } from 'node:net';

/** One household is one network: the first 64 bits of an IPv6 address. */
export function networkOf(address: string): string {
  // Some proxies append the client's port: `192.0.2.1:50312`, `[2001:db8::1]:50312`.
  const withoutPort = address.replace(/^([\d.]+):\d+$|^\[([^\]]+)\](?::\d+)?$/, '$1$2');
  // An IPv4 client of a server that listens on `::`.
  const ipAddress = withoutPort.replace(/^::ffff:(?=\d+\.)/i, '');
  if (!isIPv6(ipAddress)) return ipAddress;
  const [head = '', tail] = ipAddress.toLowerCase().split('::');
  const front = head.split(':').filter(Boolean);
  const back = tail?.split(':').filter(Boolean) ?? [];
  const zeros = Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => '0');
  return [...front, ...zeros, ...back].slice(0, 4).join(':');
}
