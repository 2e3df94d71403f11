/** JSON Merge Patch (RFC 7396), and its use on stored records, in which absent values are null. */
import { parseInstant } from '../../contract/instant.ts';
import type { ProblemError } from '../../contract/problem.ts';
import { fieldError } from '../problems/problem.ts';

type Json = unknown;
const isObject = (value: Json): value is Record<string, Json> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** RFC 7396, section 2: objects merge member by member, null removes, anything else replaces. The target is not modified. */
export function mergePatch<T = Json>(target: T | null | undefined, patch: unknown): T {
  // The result has the target's shape, because the contract has checked the patch.
  return merge(target, patch) as T;
}

function merge(target: Json, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const merged = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else if (value !== undefined) merged.set(name, merge(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}

type Given<T> = { [Name in keyof T]?: Exclude<T[Name], undefined> };

/** The given fields: an absent one keeps its stored value. */
export function withoutUndefined<T extends object>(fields: T): Given<T> {
  const given: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) given[name] = value;
  // Object.entries loses the types of the values.
  return given as Given<T>;
}

/** Values for a record and nothing else: a field that the contract has but the entity lacks does not compile. */
export function exactFields<Target extends object>() {
  return <Value extends Target>(value: Value & { [Extra in Exclude<keyof Value, keyof Target>]: never }): Value =>
    value;
}

/** A field that only the server sets may be sent back as it was read; any other value would be silently ignored. */
export function changedReadOnly(sent: Readonly<Record<string, unknown>>, present: () => object): ProblemError[] {
  const given = Object.entries(sent).filter(([, value]) => value !== undefined);
  const shown = given.length > 0 ? present() : {};
  return given
    .filter(([field, value]) => !isSame(value, Reflect.get(shown, field)))
    .map(([field]) => fieldError(field, 'read_only_field', 'is set by the server and differs from what is stored'));
}

/** Programs that parse times print them in another form, such as with +00:00 for the Z, or without trailing zeros. */
const isSame = (sent: unknown, shown: unknown): boolean =>
  sent === shown || (typeof sent === 'string' && parseInstant(sent) === shown);
