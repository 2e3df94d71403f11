/** What a file contains, as the database can store it: neither text nor JSON has NUL or half a surrogate pair there. */
export function storable<T>(found: T): T;
export function storable(found: unknown): unknown {
  if (typeof found === 'string') return found.toWellFormed().replaceAll('\0', '\uFFFD');
  if (Array.isArray(found)) return found.map(storable);
  if (typeof found !== 'object' || found === null) return found;
  return Object.fromEntries(Object.entries(found).map(([name, value]) => [storable(name), storable(value)]));
}
