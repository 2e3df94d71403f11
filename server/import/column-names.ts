/** What the name of a column says, and what a column is called that has none or keeps its own. */
import { metadataPatch } from '../../contract/metadata.ts';
import type { Column } from './inspect.ts';

const metadataPrefix = 'metadata.';
/** The name that the inspection gives to a column without one. */
export const isUnnamed = (name: string) => /^column \d+$/.test(name);
/** Spreadsheets write such columns behind the last one. */
export const isEmpty = ({ name, samples }: Pick<Column, 'name' | 'samples'>): boolean =>
  isUnnamed(name) && samples.length === 0;

/** The metadata field that keeps a column under its own name; it is taken then. */
export function metadataFieldOf(name: string, taken: Set<string>): string {
  const key = name.replaceAll(/[^A-Za-z0-9_.-]+/g, '_').replaceAll(/^_+|(?<!_)_+$/g, '') || 'column';
  let field = `${metadataPrefix}${key.slice(0, 40)}`;
  for (let count = 2; taken.has(field); count += 1)
    field = `${metadataPrefix}${key.slice(0, 39 - String(count).length)}_${count}`;
  taken.add(field);
  return field;
}

/** What is wrong with the name of a metadata field; undefined if nothing is. */
export function metadataProblem(name: string): string | undefined {
  if (!name.startsWith(metadataPrefix)) return 'needs a key, such as metadata.segment';
  const value = Object.fromEntries([[name.slice(metadataPrefix.length), '']]);
  return metadataPatch.safeParse(value).error?.issues[0]?.message;
}
