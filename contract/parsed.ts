/** Schemas built from plain functions, and wrappers for fields. */
import { z } from 'zod';
import { inHttp } from './annotations.ts';
import { failure, isBlank } from './text.ts';
import type { Failure } from './text.ts';

/** TypeScript types that a value may have besides the published one: only the typed client offers them. */
export const alsoAccepted = z.registry<{ alsoAccepts: readonly string[] }>();

/** Metadata may have a key `params`, too, but its value is text or null, never an object. */
function isFailure(result: unknown): result is Failure {
  return typeof result === 'object' && result !== null && 'params' in result && result.params instanceof Object;
}

/**
 * `Input` is what a caller writes, `Output` what the server receives; `schema` is the published JSON Schema of the
 * input, with `inHttp` for what applies only to HTTP. An absent value is rejected as `required`. `report` adds failures of
 * individual parts to that of the whole.
 */
export function parsed<Output, Input = Output>(
  parse: (value: unknown, report: (failure: Failure & { path: string[] }) => void) => Output | Failure,
  { inHttp: written, ...schema }: Record<string, unknown> & { inHttp?: string },
): z.ZodType<Output, Input> {
  const type = z.any().transform((value: unknown, context): Output => {
    const report = (found: Failure) => void context.issues.push(found);
    const result = value === undefined ? failure('required', 'is required', value) : parse(value, report);
    if (!isFailure(result)) return result;
    context.issues.push(result);
    return z.NEVER;
  });
  // Zod types a transform's input as `any`: this names the type that a caller sends.
  const described = type.meta(schema) as z.ZodType<Output, Input>;
  return written === undefined ? described : described.register(inHttp, { inHttp: written });
}

/** No-code tools send `""` for an unmapped field. */
const emptyAsAbsent = (value: unknown) => (isBlank(value) ? undefined : value);

/** `""` counts as an absent field: null in a new record, and unchanged when merging into an existing one. */
export function emptyIsAbsent<T extends z.ZodType>(schema: T) {
  return z
    .preprocess<unknown, z.ZodOptional<z.ZodNullable<T>>, z.input<T> | null | undefined>(
      emptyAsAbsent,
      schema.nullable().optional(),
    )
    .optional();
}

/** The same, for a field that is never null. */
export function optionalUnlessEmpty<T extends z.ZodType>(schema: T) {
  return z.preprocess<unknown, z.ZodOptional<T>, z.input<T> | undefined>(emptyAsAbsent, schema.optional()).optional();
}

/** A list whose length is checked before any of its elements. */
export function bounded<T extends z.ZodType>(maximum: number, list: T) {
  return z.preprocess<unknown, T, z.input<T>>((value, { issues }) => {
    if (Array.isArray(value) && value.length > maximum) {
      issues.push(failure('too_many_items', `must have at most ${maximum} items`, value));
    }
    return value;
  }, list);
}

const emptyInPatch = 'must not be empty; omit it to keep the value, or send null to clear it';

/** Rejects `""` in a PATCH, where an unmapped field of a no-code tool must not erase what is stored. */
export function rejectEmpty<T extends z.ZodType>(schema: T) {
  return z.preprocess<unknown, T, z.input<T>>((value, { issues }) => {
    if (isBlank(value)) issues.push(failure('too_short', emptyInPatch, value));
    return value;
  }, schema);
}

/** These fields, each with `""` counting as absent. */
export const eachEmptyIsAbsent = <T extends Record<string, z.ZodType>>(fields: T) =>
  // Object.fromEntries forgets which key had which value.
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, emptyIsAbsent(field)])) as {
    [K in keyof T]: ReturnType<typeof emptyIsAbsent<T[K]>>;
  };
