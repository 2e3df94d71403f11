/** The defaults of query parameters, read from the schema so that they are defined only once. */
import { z } from 'zod';

/** Parameter → the default that the contract publishes for it. */
export function defaultsOf(query: z.ZodObject): ReadonlyMap<string, unknown> {
  const defaults = Object.entries(query.shape).map(([name, schema]) => {
    const field = schema instanceof z.ZodOptional ? schema.unwrap() : schema;
    // Zod's types do not say that the inside of an optional is a full Zod type.
    return [name, (field as z.ZodType).meta()?.default] as const;
  });
  return new Map(defaults.filter(([, value]) => value !== undefined));
}
