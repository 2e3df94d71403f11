/** Variables of the environment that are probably meant for this service, and mistyped. */
import { nearest } from '../../contract/nearest.ts';
import { describedVariables, setVariables } from '../config.ts';

/** A sentence about each variable that is set, not known, and probably meant to be one that is. */
export function misspelledVariables(set: readonly string[] = setVariables()): string[] {
  const names = describedVariables.map(({ name }) => name);
  return set.flatMap((name) => {
    // OpenTelemetry and PostgreSQL's programs have many of their own.
    if (names.includes(name) || !/^(?!OTEL_|PG)[A-Z][A-Z_]+$/.test(name)) return [];
    const known = nearest(name, names, name.length < 8 ? 1 : 2);
    return known === undefined ? [] : [`Warning: ${name} is not a variable of this service; did you mean ${known}?`];
  });
}
