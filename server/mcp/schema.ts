/** The contract's schemas as an agent reads them: names, types, choices and one sentence each, to save tokens. */
import { z } from 'zod';

export type JsonSchema = { [keyword: string]: unknown };

/** The properties of a request schema, and the named schemas that they refer to. */
export type Inputs = {
  properties: Record<string, JsonSchema>;
  required: string[];
  definitions: Record<string, JsonSchema>;
};

export function inputsOf(schema: z.ZodType): Inputs {
  const { $defs, ...root } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  // Zod's type allows `true` and `false` in place of any schema; it emits them for additionalProperties only.
  const definitions = ($defs ?? {}) as Record<string, JsonSchema>;
  const { $ref } = root;
  const whole: JsonSchema = typeof $ref === 'string' ? (definitions[nameIn($ref)] ?? {}) : root;
  const required = Array.isArray(whole.required) ? whole.required.map(String) : [];
  const properties = entriesOf(whole.properties).filter(([, property]) => property.readOnly !== true);
  return {
    required,
    properties: Object.fromEntries(properties.map(([name, property]) => [name, compact(property)])),
    definitions: Object.fromEntries(
      Object.entries(definitions).map(([name, definition]) => [name, compact(definition)]),
    ),
  };
}

const nameIn = ($ref: string): string => $ref.replace('#/$defs/', '');

const entriesOf = (properties: unknown): [string, JsonSchema][] => Object.entries(Object(properties));

/** Without patterns, lengths, formats and examples: the contract checks them, and its messages explain them. */
function compact(schema: JsonSchema): JsonSchema {
  const { $ref, anyOf, type, enum: values, items, properties, additionalProperties, description } = schema;
  const first = Array.isArray(anyOf) ? anyOf.find((part) => Object(part).type !== 'null') : undefined;
  if (first !== undefined) return orNull(compact(describedBy(first, description)));
  if (typeof $ref === 'string') return { $ref };
  const text = sentence(description);
  return {
    ...(type !== undefined && { type: Array.isArray(type) ? type[0] : type }),
    ...(values !== undefined && { enum: values }),
    ...(items !== undefined && { items: compact({ ...Object(items), description: undefined }) }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        entriesOf(properties).map(([name, property]) => [
          name,
          compact({ ...withoutNull(property), description: undefined }),
        ]),
      ),
    }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: { type: 'string' } }),
    ...(text !== '' && { description: text }),
  };
}

/** An agent clears a field with null. */
const orNull = ({ type, ...schema }: JsonSchema): JsonSchema =>
  type === undefined ? { anyOf: [schema, { type: 'null' }] } : { type: [type, 'null'], ...schema };

const describedBy = (schema: unknown, description: unknown): JsonSchema =>
  description === undefined ? Object(schema) : { ...Object(schema), description };

function withoutNull(schema: JsonSchema): JsonSchema {
  const { anyOf } = schema;
  return Array.isArray(anyOf) ? Object(anyOf.find((part) => Object(part).type !== 'null')) : schema;
}

/** The first sentence, unless the name or the choices are enough. */
function sentence(description: unknown): string {
  const [first = ''] = typeof description === 'string' ? description.split(/(?<=\.) (?=[A-Z`])/) : [];
  return first.replace(/\.$/, '');
}
