/** A record's fields, each declared once: how it reads in a response, and what a create and an update accept for it. */
import { z } from 'zod';
import { emptyIsAbsent, optionalUnlessEmpty, rejectEmpty } from './parsed.ts';

type Part = 'record' | 'create' | 'update';
type Fields = Record<string, Partial<Record<Part, z.ZodType>>>;

/** A field that may be null: absent or empty on create means null, and null on update clears it. */
export const optional = <T extends z.ZodType>(schema: T) => nullable(schema, schema);

/** The same, where requests accept more than responses contain: lower case, numbers, partial objects. */
export const nullable = <T extends z.ZodType, Input extends z.ZodType, Patch extends z.ZodType = Input>(
  record: T,
  input: Input,
  patch?: Patch,
) => ({
  record: record.nullable(),
  create: emptyIsAbsent(input),
  // The default of `Patch` is the type of `input`.
  update: rejectEmpty((patch ?? (input as z.ZodType as Patch)).nullable()).optional(),
});

/** A field that is never null; a create may leave it out, because it has a default. */
export const defaulted = <T extends z.ZodType>(schema: T) => ({
  record: schema,
  create: optionalUnlessEmpty(schema),
  update: schema.optional(),
});

/** A field that is empty instead of null; null on update empties it. */
export const emptiable = <T extends z.ZodType, Input extends z.ZodType, Patch extends z.ZodType>(
  record: T,
  input: Input,
  patch: Patch,
) => ({
  record,
  create: optionalUnlessEmpty(input),
  update: rejectEmpty(patch).optional(),
});

/** A field that is never null, and that a create must contain. */
export const required = <T extends z.ZodType>(schema: T) => ({ record: schema, create: schema });

/** A field that only the server sets. An update may contain it as long as it equals the stored value. */
export const serverSet = <T extends z.ZodType>(schema: T) => ({ record: schema, update: readOnly(schema) });

function readOnly<T extends z.ZodType>(schema: T) {
  const [type, inner] = schema instanceof z.ZodNullable ? [['string', 'null'], schema.unwrap()] : ['string', schema];
  const meta = { ...z.globalRegistry.get(inner), ...schema.meta() };
  // Any value: the server compares it with the stored one. Zod types it as `any`; this names what a caller sends.
  const sent: z.ZodType<unknown, z.output<T>> = z.any().meta({ ...meta, readOnly: true, type });
  return sent.optional();
}

type Shape<F extends Fields, P extends Part> = {
  [Name in keyof F as F[Name][P] extends z.ZodType ? Name : never]: Extract<F[Name][P], z.ZodType>;
};

/** One schema for each field that has this part, for `z.object`. */
export function shapeOf<F extends Fields, P extends Part>(fields: F, part: P): Shape<F, P> {
  const entries = Object.entries(fields).filter(([, field]) => field[part] !== undefined);
  // Object.fromEntries forgets which key had which value.
  return Object.fromEntries(entries.map(([name, field]) => [name, field[part]])) as Shape<F, P>;
}
