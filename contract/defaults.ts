/** What a query means where it says nothing: read from its schema, so that it stands nowhere else. */
import { z } from 'zod';

/** Parameter → the default that the contract publishes for it. */
export function defaultsOf(query: z.ZodObject): ReadonlyMap<string, unknown> {
  const defaults = Object.entries(query.shape).map(([name, schema]) => {
    const field = schema instanceof z.ZodOptional ? schema.unwrap() : schema;
    // What is optional in Zod is a Zod type inside, too.
    return [name, (field as z.ZodType).meta()?.default] as const;
  });
  return new Map(defaults.filter(([, value]) => value !== undefined));
}
