/** A published document with its shared parameters and responses written out in each operation. */
import { mapValues } from '../../contract/openapi/document.ts';
import type { Document } from '../../contract/openapi/document.ts';
import type { PublishedDocument } from '../../contract/openapi/shared.ts';

export function expand(document: PublishedDocument): Document {
  const { parameters, responses, ...components } = document.components;
  const follow = <T extends object>(value: T | { $ref: string }, shared: Record<string, T>): T => {
    if (!('$ref' in value)) return value;
    const target = shared[value.$ref.split('/').at(-1) ?? ''];
    if (!target) throw new Error(`There is no component at ${value.$ref}.`);
    return target;
  };
  const paths = mapValues(document.paths, (methods) =>
    mapValues(methods, (operation) => ({
      ...operation,
      parameters: operation.parameters.map((parameter) => follow(parameter, parameters)),
      responses: mapValues(operation.responses, (response) => follow(response, responses)),
    })),
  );
  // A component may be used by several operations: a change to one must not change the others.
  return structuredClone({ ...document, paths, components });
}
