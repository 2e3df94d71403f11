/** Converts OpenAPI 3.0 schemas to Swagger 2.0 definitions, with the labels that flow designers show. */
import { resolve } from '../../../contract/openapi/document.ts';
import type { Schema } from '../../../contract/openapi/document.ts';
import { labelOf } from '../../../contract/openapi/label.ts';

export type Json = Record<string, unknown>;

/** The designer has no fields for metadata and conditional requests. */
export const unsupportedNames = new Set(['metadata', 'If-Match', 'If-None-Match']);
/** What most flows need; the designer hides the rest under "advanced". */
const important = new Set(['q', 'email', 'phone', 'status', 'type', 'name', 'companyName', 'firstName', 'lastName']);
export const visibility = (name: string, required = false) =>
  required || important.has(name) ? 'important' : 'advanced';

const refer = (name: string): Json => ({ $ref: `#/definitions/${name}` });
export const capitalized = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

/**
 * Objects become named definitions. A label contains the whole path ("Shipping address city"), so an object that appears in
 * two fields has a definition for each.
 */
export class Definitions {
  readonly named: Record<string, Json> = {};
  readonly #schemas: Record<string, Schema>;

  constructor(schemas: Record<string, Schema>) {
    this.#schemas = schemas;
  }

  /** The schema itself, or a reference to its definition; `around` is the name of the object whose field it is. */
  of(schema: Schema, path: readonly string[] = [], around = ''): Json {
    const { allOf, ...beside } = schema;
    const reference = allOf?.[0] ?? schema;
    const { properties, items, required = [], ...whole } = this.#resolved(reference, allOf ? beside : {});
    if (!properties) return { ...convertSchema(whole), ...(items && { items: this.of(items) }) };
    const name = reference.$ref?.split('/').at(-1);
    const inPlace = around + capitalized(path.at(-1) ?? '');
    // The example of an object would show fields that are left out.
    const { example: _, ...described } = whole;
    const object = (own: string) => ({
      ...convertSchema(described),
      properties: this.#properties({ properties, required }, path, own),
      ...requiredOf(properties, required, (field) => this.#isNullable(field)),
      ...labeled(path, visibility(path.at(-1) ?? '')),
    });
    return this.#define(name ?? inPlace, inPlace, object);
  }

  #resolved(reference: Schema, beside: Schema): Schema {
    return { ...resolve(reference, this.#schemas), ...beside };
  }

  #isNullable(field: Schema): boolean {
    return field.nullable === true || resolve(field, this.#schemas).nullable === true;
  }

  #properties({ properties = {}, required = [] }: Schema, path: readonly string[], around: string): Json {
    const shown = Object.entries(properties).filter(([name]) => !unsupportedNames.has(name));
    return Object.fromEntries(
      shown.map(([name, field]) => {
        const inner = [...path, name];
        const converted = this.of(field, inner, around);
        // A `$ref` allows no siblings: its definition has the label.
        if (converted.$ref !== undefined) return [name, converted];
        return [name, { ...converted, ...labeled(inner, visibility(name, required.includes(name))) }];
      }),
    );
  }

  /** Under the schema's own name, unless that name is taken by a definition with different labels. */
  #define(name: string, inPlace: string, object: (own: string) => Json): Json {
    const definition = object(name);
    const known = this.named[name];
    const isFree = known === undefined || JSON.stringify(known) === JSON.stringify(definition);
    const own = isFree ? name : inPlace;
    this.named[own] = isFree ? definition : object(inPlace);
    return refer(own);
  }
}

const labeled = (path: readonly string[], shown: string): Json =>
  path.length === 0 ? {} : { 'x-ms-summary': labelOf(path.join(' ')), 'x-ms-visibility': shown };

/** Generated code treats null as missing, and rejects a required field that is null. */
function requiredOf(properties: Record<string, Schema>, required: string[], isNullable: (field: Schema) => boolean) {
  const kept = required.filter((name) => {
    const field = properties[name];
    return field !== undefined && !unsupportedNames.has(name) && !isNullable(field);
  });
  return kept.length > 0 ? { required: kept } : {};
}

/** Swagger 2.0 has neither `nullable` nor null in an enum. */
export function convertSchema({ nullable, enum: values, items, ...schema }: Schema): Json {
  return {
    ...schema,
    ...(values && { enum: values.filter((value) => value !== null) }),
    ...(items && { items: convertSchema(items) }),
    ...(nullable && { 'x-nullable': true }),
  };
}
