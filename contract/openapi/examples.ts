/** Whole examples, composed from the examples of their fields, so the two cannot drift apart. */
import { mapValues, resolve } from './document.ts';
import type { Schema } from './document.ts';

/** An example of the schema: its own, or one composed of those of its parts. */
export function exampleOf(schema: Schema, schemas: Record<string, Schema>): unknown {
  const { examples, anyOf, items, properties } = resolve(schema, schemas);
  if (examples) return examples[0];
  const [first] = anyOf ?? [];
  if (first) return exampleOf(first, schemas);
  if (items) return [exampleOf(items, schemas)];
  return mapValues(properties ?? {}, (field) => exampleOf(field, schemas));
}
