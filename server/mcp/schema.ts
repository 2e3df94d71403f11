/** The contract's schemas as an agent reads them: names, types, choices and one sentence each, to save tokens. */
import type { AppRoute } from '@ts-rest/core';
import { z } from 'zod';

export type JsonSchema = { [keyword: string]: unknown };

export function schemaOf(part: unknown): z.ZodType {
  if (part instanceof z.ZodType) return part;
  throw new Error('This part of the contract has no schema.');
}

/** The fields of the record that an operation returns. */
export function fieldsOf(route: AppRoute): string[] {
  const success = schemaOf(route.responses[200]);
  const data: unknown = success instanceof z.ZodObject ? success.shape.data : undefined;
  const record = data instanceof z.ZodArray ? data.element : success;
  return record instanceof z.ZodObject ? Object.keys(record.shape) : [];
}

/**
 * The properties of a request schema, and the named schemas that they refer to. `whole` keeps descriptions whole, with the
 * rules of each parameter.
 */
export function inputsOf(schema: z.ZodType, { whole = false } = {}) {
  const { $defs, ...root } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  // Zod's type allows `true` and `false` in place of any schema; it emits them for additionalProperties only.
  const definitions = ($defs ?? {}) as Record<string, JsonSchema>;
  const { $ref } = root;
  const body: JsonSchema = typeof $ref === 'string' ? (definitions[nameIn($ref)] ?? {}) : root;
  const required = Array.isArray(body.required) ? body.required.map(String) : [];
  const properties = entriesOf(body.properties).filter(([, property]) => property.readOnly !== true);
  return {
    required,
    properties: Object.fromEntries(
      properties.map(([name, property]) => [name, compact(asDescribed(name, property, whole))]),
    ),
    definitions: Object.fromEntries(
      Object.entries(definitions).map(([name, part]) => [name, compact({ anyOf: [part], description: '' })]),
    ),
  };
}

/** Leaves out what the name of a time or a choice already says; `whole` keeps more than the first clause. */
function asDescribed(name: string, { description, ...property }: JsonSchema, whole: boolean): JsonSchema {
  const isChoice = property.enum !== undefined || property.type === 'boolean';
  const isTold = /(?:Since|Before)$/.test(name) || isChoice || (whole && property.type === 'array');
  // If a field can be null, its description belongs to its other type.
  const [value] = Array.isArray(property.anyOf) ? property.anyOf : [];
  const told = description ?? Object(value).description;
  const text = typeof told === 'string' ? told : '';
  return { ...property, ...(!isTold && { description: whole ? briefly(text) : text.split(';', 1)[0] }) };
}

/** All sentences as one, without the opening words common to filters. */
const briefly = (text: string) =>
  text
    .replace(/^Only (?:the )?\w+ (?:with |in |of |for )?/, '')
    .replaceAll(/\. ([A-Z](?=[a-z]))/g, (_, letter: string) => `; ${letter.toLowerCase()}`)
    .replace(/\.$/, '');

const nameIn = ($ref: string): string => $ref.replace('#/$defs/', '');

const entriesOf = (properties: unknown) =>
  Object.entries(Object(properties)).map(([name, property]) => [name, Object(property)] as const);

/** Without patterns, lengths, formats and examples: the contract checks them, and its messages explain them. */
function compact(schema: JsonSchema): JsonSchema {
  const { $ref, anyOf, type, enum: values, items, properties, additionalProperties, description } = schema;
  const choices = Array.isArray(anyOf) ? anyOf.filter((part) => Object(part).type !== 'null') : [];
  const [first] = choices;
  if (choices.length === 1) return orNull(compact(describedBy(first, description)));
  if (choices.length > 1)
    return { anyOf: choices.map((part) => compact(Object(part))), description: sentence(description) };
  if (typeof $ref === 'string') return { $ref };
  const text = sentence(description);
  return {
    ...(type !== undefined && { type }),
    ...(values !== undefined && { enum: values }),
    ...(items !== undefined && { items: compact({ ...Object(items), description: undefined }) }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        entriesOf(properties).map(([name, property]) => [
          name,
          // Names such as `city` need no description; codes do.
          compact({ ...asDescribed(name, property, false), ...(!isCode(property) && { description: '' }) }),
        ]),
      ),
    }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: compact(Object(additionalProperties)) }),
    ...(text !== '' && { description: text }),
  };
}

const isCode = (property: JsonSchema) => /\bISO \d/.test(JSON.stringify(property));

/** An agent clears a field with null. Without a union, of which LangChain keeps only the object; definitions allow null. */
const orNull = ({ type, ...schema }: JsonSchema): JsonSchema =>
  type === undefined ? schema : { type: [type, 'null'], ...schema };

const describedBy = (schema: unknown, description: unknown): JsonSchema =>
  description === undefined ? Object(schema) : { ...Object(schema), description };

/** The first sentence, without its period. */
function sentence(description: unknown): string {
  const [first = ''] = typeof description === 'string' ? description.split(/(?<=\.) (?=[A-Z`])/) : [];
  return first.replace(/\.$/, '');
}
