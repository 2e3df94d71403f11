/** ETags: strong, over the body as it is sent. */
import { createHash } from 'node:crypto';

export function etagOf(body: object): string {
  return `"${createHash('sha256').update(JSON.stringify(body)).digest('base64url').slice(0, 22)}"`;
}
