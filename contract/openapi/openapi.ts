/** The contract as an OpenAPI document: for people who read it, and for tools that import it. */
import { toOpenApi30 } from './version-30.ts';
import type { Document } from './document.ts';
import { emitOpenApi } from './emit.ts';
import { v1 } from '../v1.ts';

// The contract does not change while the process runs: only the address does, once the server listens.
const emitted = once(() => emitOpenApi(v1, '/'));
const emitted30 = once(() => toOpenApi30(emitted()));

/** OpenAPI 3.1. `baseUrl` is the address of the service without a slash at its end; the paths begin with `/v1`. */
export function openApiDocument(baseUrl: string): Document {
  return { ...emitted(), servers: [{ url: baseUrl }] };
}

/** The same in OpenAPI 3.0.3. */
export function openApi30Document(baseUrl: string): Document {
  return { ...emitted30(), servers: [{ url: baseUrl }] };
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
