/**
 * What TypeScript's own library declares as `any` is `unknown` here: an `any` could become anything without a check,
 * such as an organization id that nothing has verified.
 */
interface ObjectConstructor {
  (value: unknown): Record<string, unknown>;
}

interface ArrayConstructor {
  isArray(value: unknown): value is unknown[];
}

interface JSON {
  parse(text: string): unknown;
}

declare namespace Reflect {
  function get(target: object, propertyKey: PropertyKey): unknown;
}
