/** Checks of tool arguments that no operation makes. */
import { nearest } from '../../contract/nearest.ts';
import type { Arguments, Tool } from './tool.ts';

/** An invalid argument of a tool. The message is for the agent. */
export class ArgumentError extends Error {}

/** Checks the names in `fields`; `known` are the fields of the record. */
export function chosenFields(fields: unknown, known: readonly string[], usual: readonly string[]): readonly string[] {
  if (fields === undefined) return usual;
  const names: unknown[] = Array.isArray(fields) ? fields : [fields];
  for (const name of names) {
    if (typeof name === 'string' && known.includes(name)) continue;
    // An object with its own `toString` cannot be converted to text.
    const text = typeof name === 'string' ? name : JSON.stringify(name);
    const suggestion = nearest(text, known);
    const help = suggestion === undefined ? `Fields: ${known.join(', ')}.` : `Did you mean "${suggestion}"?`;
    throw new ArgumentError(`fields: there is no field "${text.slice(0, 60)}". ${help}`);
  }
  // Each is compared with every field of every record.
  return [...new Set(['id', ...names.map(String)])];
}

/** Checks what no read operation does: which arguments can be null, true or false, or a list. */
export function requireForm({ properties, required = [] }: Tool, input: Arguments): void {
  for (const [name, value] of Object.entries(input)) {
    if (value === null && !required.includes(name))
      throw new ArgumentError(`${name} must not be null. Leave it out instead.`);
    const { type } = Object(properties[name]);
    if (type === 'boolean' && typeof value !== 'boolean') throw new ArgumentError(`${name} must be true or false.`);
    // In a URL, a list is a parameter that is given twice.
    const one = type === 'object' ? 'an object' : 'one value';
    if (type !== 'array' && Array.isArray(value)) throw new ArgumentError(`${name} must be ${one}, not a list.`);
  }
}

/** The position after which the remaining lines begin; 0 if it is not given. */
export function positionIn(value: unknown = 0): number {
  const position = typeof value === 'string' ? Number(value) : value;
  if (typeof position === 'number' && Number.isInteger(position) && position >= 0) return position;
  throw new ArgumentError('lineItemsAfter must be nextLineItemsAfter from the previous call.');
}

export function idIn(input: Arguments, name: string, hint: string): string {
  const value = input[name];
  if (value === undefined) throw new ArgumentError(`${name} is required.`);
  if (typeof value !== 'string' || !/^[a-z]{3}_|\//.test(value)) throw new ArgumentError(`${name} is an id. ${hint}`);
  return value;
}
