/** The contract as an OpenAPI document: for people who read it, and for tools that import it. */
import { exampleUrl } from '../examples.ts';
import { v1 } from '../v1.ts';
import type { Document } from './document.ts';
import { emitOpenApi } from './emit.ts';
import { once } from '../once.ts';
import { shareComponents } from './shared.ts';
import type { PublishedDocument } from './shared.ts';
import { toOpenApi30 } from './version-30.ts';

// The contract does not change while the process runs; only the URL does, once the server listens.
const emitted = once(() => emitOpenApi(v1));
const published = once(() => shareComponents(emitted()));
const emitted30 = once(() => toOpenApi30(emitted()));
const published30 = once(() => shareComponents(emitted30()));

/** OpenAPI 3.1. `baseUrl` is the URL of the service without a trailing slash; the paths begin with `/v1`. */
export const openApiDocument = (baseUrl: string): PublishedDocument => at(baseUrl, published());

/** The same in OpenAPI 3.0.3. */
export const openApi30Document = (baseUrl: string): PublishedDocument => at(baseUrl, published30());

/** OpenAPI 3.1 with every parameter and response written out in its operation, for programs that read the document. */
export const expandedDocument = (baseUrl: string): Document => at(baseUrl, emitted());
export const expandedDocument30 = (baseUrl: string): Document => at(baseUrl, emitted30());

/** Replaces the placeholder URL in every example. */
function at<T>(baseUrl: string, document: T): T {
  // A copy of the same shape: only strings change.
  return JSON.parse(JSON.stringify(document).replaceAll(exampleUrl, JSON.stringify(baseUrl).slice(1, -1))) as T;
}
