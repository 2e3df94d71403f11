/** A response as the client types it: a closed set of values in the contract may gain values within v1. */
export type Open<T> = T extends string
  ? string extends T
    ? T
    : T | (string & {})
  : T extends readonly (infer Item)[]
    ? Open<Item>[]
    : T extends object
      ? { [Name in keyof T]: Open<T[Name]> }
      : T;
