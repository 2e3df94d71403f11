/** Commands, and how they parse their arguments. */
import { parseArgs } from 'node:util';
import { readConfig, UsageError } from '../config.ts';
import { openConfiguredDatabase } from '../database/open.ts';
import type { Opened } from '../database/open.ts';
import { Organization } from '../entities/organization.ts';
import { say } from './terminal.ts';

export type Command = {
  /** The output of `--help`. */
  help: string;
  /** Does the work and returns the exit status; a UsageError becomes one line on standard error and status 1. */
  run(words: string[]): Promise<number>;
};

type Options = Record<string, { type: 'string' | 'boolean'; multiple?: boolean }>;

/** `--name value` options and the words between them; an unknown option is rejected by name. */
export function readWords<const T extends Options>(
  words: string[],
  options: T,
  positionals: readonly string[] = [],
  optional: readonly string[] = [],
) {
  try {
    const parsed = parseArgs({ args: words, options, allowPositionals: true, strict: true });
    const missing = positionals[parsed.positionals.length];
    if (missing) throw new UsageError(`${missing} is missing`);
    const extra = parsed.positionals[positionals.length + optional.length];
    if (extra !== undefined) throw new UsageError(`unexpected argument: ${extra}`);
    return parsed;
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(error instanceof Error ? error.message : String(error));
  }
}

export function required(value: string | undefined, option: string): string {
  if (value === undefined || value.trim() === '') throw new UsageError(`--${option} is required`);
  return value.trim();
}

/** Runs with the migrated database, and always closes it. */
export async function withDatabase<T>(work: (database: Opened) => Promise<T>): Promise<T> {
  const database = await openConfiguredDatabase(readConfig());
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

export async function organizationBySlug({ orm }: Pick<Opened, 'orm'>, slug: string): Promise<Organization> {
  const organization = await orm.em.fork().findOne(Organization, { slug });
  if (!organization) throw new UsageError(`there is no organization with the slug ${slug}`);
  return organization;
}

/** Prints records for people, as aligned columns. */
export function printTable(rows: readonly Record<string, string>[]): void {
  const [first] = rows;
  if (!first) return;
  const names = Object.keys(first);
  const widths = names.map((name) => Math.max(name.length, ...rows.map((row) => (row[name] ?? '').length)));
  const line = (cells: string[]) =>
    cells
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd();
  say(line(names));
  for (const row of rows) say(line(names.map((name) => row[name] ?? '')));
}
