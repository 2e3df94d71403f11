/** The query string, exactly as sent: nothing is dropped, and a parameter given twice is a list. */
import { parameterProblem } from '../problems/problem.ts';
import { safeExcerpt } from '../problems/safe-text.ts';

function decode(text: string, name: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw parameterProblem(safeExcerpt(name), 'is not percent-encoded UTF-8');
  }
}

const metadataName = /^metadata\[([^\]]*)\]$/;

/** `a=1&a=2&metadata[k]=v` → `{ a: ['1', '2'], metadata: { k: 'v' } }`. */
export function parseQuery(text: string | null): Record<string, unknown> {
  const values = new Map<string, unknown>();
  const metadata = new Map<string, unknown>();
  for (const part of (text ?? '').split('&')) {
    if (part === '') continue;
    const split = part.indexOf('=');
    const typedName = split < 0 ? part : part.slice(0, split);
    const name = decode(typedName, typedName);
    const value = split < 0 ? '' : decode(part.slice(split + 1), name);
    const [, key] = metadataName.exec(name) ?? [];
    if (key === undefined) add(values, name, value);
    else {
      add(metadata, key, value);
      // In the place of its first key: errors are reported in the order of the parameters.
      if (!values.has('metadata')) values.set('metadata', metadata);
    }
  }
  // `metadata=x` next to `metadata[k]=v` is a plain value or a list, which the contract rejects.
  if (values.get('metadata') === metadata) values.set('metadata', Object.fromEntries(metadata));
  return Object.fromEntries(values);
}

function add(values: Map<string, unknown>, name: string, value: string): void {
  const before = values.get(name);
  if (before === undefined) values.set(name, value);
  else if (Array.isArray(before)) before.push(value);
  else values.set(name, [before, value]);
}
