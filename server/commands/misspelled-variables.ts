/** Finds environment variables that are probably meant for this service, but misspelled. */
import { nearest } from '../../contract/nearest.ts';
import { describedVariables, setVariables } from '../config.ts';

/** A warning about each unknown variable that is set and probably meant to be a known one. */
export function misspelledVariables(set: readonly string[] = setVariables()): string[] {
  const names = describedVariables.map(({ name }) => name);
  return set.flatMap((name) => {
    // OpenTelemetry and PostgreSQL's programs have many of their own.
    if (names.includes(name) || !/^(?!OTEL_|PG)[A-Z][A-Z_]+$/.test(name)) return [];
    const known = nearest(name, names, name.length < 8 ? 1 : 2);
    return known === undefined ? [] : [`Warning: ${name} is not a variable of this service; did you mean ${known}?`];
  });
}
