/** JSON Merge Patch (RFC 7396) onto stored records, which never have a member that is absent: absent is null. */
import { isDeepStrictEqual } from 'node:util';
import { fieldProblem } from '../problems.ts';

/** Objects merge member by member; null removes. The target stays as it is. */
export function mergeObject<T>(target: Readonly<Record<string, T>> | null, patch: Readonly<Record<string, T | null>>): Record<string, T> {
  const merged = new Map(Object.entries(target ?? {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, value);
  }
  return Object.fromEntries(merged);
}

/**
 * Assigns what differs, so that a patch which changes nothing writes nothing. The record's own comparison of JSON
 * columns goes by the order of keys, which is not a difference.
 */
export function assignChanged<T extends object>(record: T, values: Partial<T>): void {
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && !isDeepStrictEqual(Reflect.get(record, name), value)) Reflect.set(record, name, value);
  }
}

/** A field that only the server sets may be sent back as it was read; anything else would be silently ignored. */
export function requireUnchanged(sent: Readonly<Record<string, unknown>>, shown: Readonly<Record<string, unknown>>): void {
  for (const [field, value] of Object.entries(sent)) {
    if (value !== undefined && value !== shown[field]) {
      throw fieldProblem(field, 'read_only_field', 'is set by the server and differs from what is stored');
    }
  }
}
