/** Related records that a read selects together with a record. */
import type { EntityName } from '@mikro-orm/core';
import type { Property } from './sql.ts';

/** Records of another entity that belong to the selected one. */
export type Related<T extends object = object, Read extends string = string> = {
  entity: EntityName;
  /** Its property → the property of the selected record that it equals; the organization is always compared as well. */
  where: Readonly<Record<string, string>>;
  properties: readonly Read[];
  orderBy?: string;
  /** For the compiler only. */
  readonly record?: T;
};

export function relatedTo<T extends object, const Read extends Property<T>>(
  entity: EntityName<T>,
  where: Readonly<Partial<Record<Property<T>, string>>>,
  properties: readonly Read[],
  orderBy?: Property<T>,
): Related<T, Read> {
  // A partial record of the entity's properties, whose present values are strings.
  return { entity, where: where as Record<string, string>, properties, ...(orderBy && { orderBy }) };
}

export type Relations = Readonly<Record<string, Related>>;
export type NoRelations = { readonly [name in never]: Related };
type Path<One extends Relations> = { [Name in keyof One & string]: `${Name}.${ReadOf<One[Name]>}` }[keyof One & string];
export type OneRow<One extends Relations> = {
  [Each in Path<One>]: Each extends `${infer Name}.${infer Read}` ? ValueOf<One[Name], Read> | null : never;
};
export type ManyRow<Many extends Relations> = {
  [Name in keyof Many]: { [Read in ReadOf<Many[Name]>]: ValueOf<Many[Name], Read> }[];
};
type ReadOf<R> = R extends Related<object, infer Read> ? Read : never;
type ValueOf<R, Name> = R extends Related<infer T> ? (Name extends keyof T ? T[Name] : never) : never;
