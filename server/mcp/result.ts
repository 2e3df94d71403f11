/** Tool results: the fields that matter, without empty ones. */

/** The record's fields with these names that have a value. */
export function selected(record: unknown, fields: readonly string[]): Record<string, unknown> {
  const entries = Object.entries(Object(record)).filter(([name]) => fields.includes(name));
  return Object(withoutEmpty(Object.fromEntries(entries)));
}

function withoutEmpty(value: unknown): unknown {
  if (value === null || value === undefined) return undefined;
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(withoutEmpty);
  if (typeof value !== 'object') return value;
  const kept = Object.entries(value).map(([name, part]) => [name, withoutEmpty(part)] as const);
  const shown = kept.filter(([, part]) => part !== undefined);
  return shown.length === 0 ? undefined : Object.fromEntries(shown);
}

/** About 8,000 tokens. */
export const mostBytes = 26_000;
export const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** Like `selected`, but without the longest texts if one result cannot hold them all: `leftOut` names those. */
export function presented(record: unknown, fields: readonly string[]): Record<string, unknown> {
  return withoutLongest(selected(record, fields));
}

export function withoutLongest(record: Record<string, unknown>): Record<string, unknown> {
  let bytes = sizeOf(record);
  if (bytes <= mostBytes) return record;
  const leftOut: string[] = [];
  for (const text of textsIn(record).toSorted((one, other) => other.bytes - one.bytes)) {
    if (bytes <= mostBytes) break;
    Reflect.deleteProperty(text.holder, text.name);
    leftOut.push(text.path);
    bytes -= text.bytes - text.path.length;
  }
  return { ...record, leftOut };
}

type Text = { holder: object; name: string; path: string; bytes: number };

function textsIn(holder: object, parent = ''): Text[] {
  return Object.entries(holder).flatMap(([name, value]: [string, unknown]): Text[] => {
    const path = parent + name;
    if (typeof value === 'object' && value !== null) return textsIn(value, `${path}.`);
    return typeof value === 'string' ? [{ holder, name, path, bytes: sizeOf(value) }] : [];
  });
}
