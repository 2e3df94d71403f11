/** Which addresses the service may be made to send to: public ones, and those in networks that the operator allows. */
import type { LookupAddress } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';

/** Loopback, private, link-local with cloud metadata, shared, documentation, benchmark, multicast and reserved. */
const blocked4 = `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
  192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4`;
/** Everything outside 2000::/3, such as NAT64 and embedded IPv4; inside it, Teredo, documentation and 6to4. */
const blocked6 = '::/3 4000::/2 8000::/1 2001::/23 2001:db8::/32 2002::/16 3fff::/20';

// Separate lists, because one would also compare IPv4 addresses, as mapped ones, with its IPv6 networks.
const blocked = { ipv4: listOf(blocked4.split(/\s+/)), ipv6: listOf(blocked6.split(' ')) };

/** The addresses of networks such as `10.1.0.0/16`. */
function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits = ''] = network.split('/');
    list.addSubnet(address, Number(bits), familyOf(address));
  }
  return list;
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

export class ForbiddenAddress extends Error {
  readonly code = 'FORBIDDEN_ADDRESS';
}

export type Destinations = ReturnType<typeof createDestinations>;

export type Resolve = (host: string) => Promise<LookupAddress[]>;

/** `allowed` are networks that the operator allows, in CIDR notation. */
export function createDestinations(
  allowed: readonly string[],
  resolveHost = allowed.length > 0 ? orLocally(askNameServers()) : askNameServers(),
) {
  const allowedList = listOf(allowed);
  const lookUp = shared(resolveHost);
  const isAllowed = (address: string) => allowedList.check(address, familyOf(address));
  const isPublic = (address: string) => !blocked[familyOf(address)].check(address, familyOf(address));
  return {
    /** Whether the operator explicitly allows the address, in which case plain HTTP is accepted as well. */
    isAllowed,
    /** The addresses of a host, all of which may be used; throws a ForbiddenAddress if one may not. */
    async resolve(host: string): Promise<LookupAddress[]> {
      const literal = host.replace(/^\[(.*)\]$/, '$1');
      const family = isIP(literal);
      const addresses = family === 0 ? await lookUp(literal) : [{ address: literal, family }];
      // One forbidden address is enough to reject the host: any of its addresses may be the one used.
      const forbidden = addresses.find(({ address }) => !isPublic(address) && !isAllowed(address));
      if (forbidden) throw new ForbiddenAddress(`${host} is not a public address.`);
      return addresses;
    },
  };
}

/** Resolves as every program on this machine does: by its hosts file, too. Node looks up only two at a time. */
const askSystem: Resolve = (host) => lookup(host, { all: true });

/**
 * Not by `lookup`: names whose name server is silent would keep all others waiting, and with them every new connection to
 * the database. `servers` replaces those of the system, in tests.
 */
export function askNameServers(servers?: readonly string[]): Resolve {
  return async (host) => {
    // No name server on the internet knows names such as localhost, or those of containers.
    if (!host.includes('.')) return askSystem(host);
    // A new one each time, because it reads the configuration of the system only once.
    const resolver = new Resolver({ timeout: 2_000, tries: 2 });
    if (servers) resolver.setServers(servers);
    const ipv6 = resolver.resolve6(host).catch(() => []);
    const ipv4 = await resolver.resolve4(host).catch(async (error: unknown) => {
      if ((await ipv6).length === 0) throw error;
      return [];
    });
    const of = (family: number) => (address: string) => ({ address, family });
    return [...ipv4.map(of(4)), ...(await ipv6).map(of(6))];
  };
}

/** Names in networks that the operator allows may be known to this machine alone. */
export const orLocally =
  (resolveHost: Resolve): Resolve =>
  (host) =>
    resolveHost(host).catch((error: unknown) => {
      if (Reflect.get(Object(error), 'code') === 'ETIMEOUT') throw error;
      return askSystem(host);
    });

/** Concurrent lookups of a host are one lookup. */
function shared(resolveHost: Resolve): Resolve {
  const running = new Map<string, Promise<LookupAddress[]>>();
  return (host) => {
    const lookedUp = running.get(host) ?? resolveHost(host).finally(() => running.delete(host));
    running.set(host, lookedUp);
    return lookedUp;
  };
}
