/** Shared by the files of commands. */
import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import type { Kind } from '../../contract/fields.ts';
import { parseInstant } from '../../contract/instant.ts';
import { readConfig, UsageError } from '../config.ts';
import { openConfiguredDatabase } from '../database/open.ts';
import type { ConfiguredDatabase, OpenOptions } from '../database/open.ts';
import { Organization } from '../entities/organization.ts';
import { storedId } from '../records/public-id.ts';
import { printJson, printLines } from './terminal.ts';

/**
 * Declares the arguments and options of a command, and its action. If the action fails with a UsageError, its message is
 * printed to standard error and the exit status is 1.
 */
export type Declare = (command: Command) => void;

/** The value of an option or argument without surrounding spaces; an empty one is rejected. */
export function text(value: string): string {
  const trimmed = value.trim();
  if (trimmed === '') throw new InvalidArgumentError('It must not be empty.');
  return trimmed;
}

/** The path of a file, as given; an empty one is rejected. */
export function filePath(value: string): string {
  if (value === '') throw new InvalidArgumentError('It must not be empty.');
  return value;
}

export const idOf = (kind: Kind, what: string) => (value: string) => {
  const id = storedId(kind, value);
  if (id) return id;
  throw new InvalidArgumentError(`It must be the id of ${what}.`);
};

export function instant(value: string): string {
  const parsed = parseInstant(value.trim());
  if (parsed !== undefined) return parsed;
  throw new InvalidArgumentError('It must be a date or a time with its zone, such as 2026-03-01.');
}

export const wholeNumber = (from: number, to: number) => (value: string) => {
  const number = Number(value);
  if (/^\d+$/.test(value.trim()) && number >= from && number <= to) return number;
  throw new InvalidArgumentError(`It must be a whole number from ${from} to ${to}.`);
};

export const organizationOption = () =>
  new Option('--organization <SLUG>', 'the organization').argParser(text).makeOptionMandatory();

export const jsonOption = () => new Option('--json', 'print the result as JSON');

/** Runs with the migrated database, and always closes it. */
export async function withDatabase<T>(
  work: (database: ConfiguredDatabase) => Promise<T>,
  options?: OpenOptions,
): Promise<T> {
  const database = await openConfiguredDatabase(readConfig(), options);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

export async function organizationBySlug({ orm }: ConfiguredDatabase, slug: string): Promise<Organization> {
  const organization = await orm.em.fork().findOne(Organization, { slug });
  if (!organization)
    throw new UsageError(`there is no organization with the slug ${slug}; \`organizations list\` shows all`);
  return organization;
}

/** Prints the value as JSON, or as human-readable lines. */
export function print(json: boolean | undefined, value: unknown, ...lines: string[]): void {
  if (json) printJson(value);
  else printLines(...lines);
}

type Row = Readonly<Record<string, string | number | boolean | string[] | null>>;

/** Prints a record, or a list of them, as JSON or as a table. */
export function printList(
  json: boolean | undefined,
  value: Row | readonly Row[],
  rows: readonly Row[] = [value].flat(),
): void {
  if (json) printJson(value);
  else printTable(rows);
}

/** Prints records as aligned columns. */
export function printTable(rows: readonly Row[]): void {
  const [names = []] = rows.map(Object.keys);
  const lines = [names, ...rows.map((row) => Object.values(row).map((cell) => String(cell ?? '')))];
  const widths = names.map((_, column) => lines.reduce((most, line) => Math.max(most, line[column]?.length ?? 0), 0));
  const aligned = lines.map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  if (rows.length > 0) for (const line of aligned) printLines(line.trimEnd());
}
