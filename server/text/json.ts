/** JSON as a request body may contain it: not nested too deeply, and without duplicate keys. */
import { maximumDepth, maximumKeys } from '../../contract/limits.ts';
import { fieldError, Problem } from '../problems/problem.ts';
import { findFault } from './json-fault.ts';

/** The value of a JSON text. Problems: malformed_json; validation_failed if it has too many keys, before any is parsed. */
export function parseJson(text: string, mostKeys = maximumKeys): unknown {
  const members = countMembers(text);
  if (members === undefined) throw new Problem('malformed_json', { fault: 'too_deep' });
  if (members > mostKeys) {
    const message = `must have at most ${mostKeys} keys in all`;
    throw new Problem('validation_failed', { errors: [fieldError('', 'too_many_items', message)] });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Problem('malformed_json', findFault(text));
  }
  // JSON.parse keeps the last of two members with the same key, so fewer remain than were written.
  if (countKeys(value) !== members) throw new Problem('malformed_json', findFault(text));
  return value;
}

/** Parses JSON from an untrusted source; undefined if it is invalid. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const code = (letter: string) => letter.charCodeAt(0);
const [quote, backslash, colon] = [code('"'), code('\\'), code(':')];
const [openObject, openArray, closeObject, closeArray] = [code('{'), code('['), code('}'), code(']')];

/** How many members the objects of a text have in all; undefined if it nests too deeply. Builds no objects. */
function countMembers(text: string): number | undefined {
  let depth = 0;
  let members = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const letter = text.charCodeAt(index);
    if (inString) {
      if (letter === backslash) index += 1;
      else if (letter === quote) inString = false;
    } else if (letter === quote) inString = true;
    else if (letter === colon) members += 1;
    else if (letter === openObject || letter === openArray) {
      depth += 1;
      if (depth > maximumDepth) return undefined;
    } else if (letter === closeObject || letter === closeArray) depth -= 1;
  }
  return members;
}

function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const isList = Array.isArray(value);
  const inner: unknown[] = isList ? value : Object.values(value);
  let keys = isList ? 0 : inner.length;
  for (const part of inner) if (typeof part === 'object') keys += countKeys(part);
  return keys;
}
