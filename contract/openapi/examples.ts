/** Whole examples, composed from the examples of their fields, so that they cannot drift from them. */
import { resolve } from './document.ts';
import type { Schema } from './document.ts';

/** An example of the schema: its own, or one composed of its parts. Requests leave out fields that only the server sets. */
export function exampleOf(schema: Schema, schemas: Record<string, Schema>): unknown {
  const { examples, anyOf, items, properties, required = [] } = resolve(schema, schemas);
  if (examples) return examples[0];
  const [first] = anyOf ?? [];
  if (first) return exampleOf(first, schemas);
  if (items) return [exampleOf(items, schemas)];
  const fields = Object.entries(properties ?? {}).filter(([name, field]) => required.includes(name) || !field.readOnly);
  return Object.fromEntries(fields.map(([name, field]) => [name, exampleOf(field, schemas)]));
}
