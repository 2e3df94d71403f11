/** The body of a write. Media type, size and JSON are checked in turn, each rejected with its own problem. */
import type { Request, Response } from 'express';
import getRawBody from 'raw-body';
import { maximumBodyBytes } from '../../contract/limits.ts';
import type { Shares } from '../limits/concurrency.ts';
import { networkOf } from '../limits/network.ts';
import { Problem } from '../problems/problem.ts';
import { parseJson } from '../text/json.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

export const patchTypes = ['application/json', 'application/merge-patch+json'];
const mediaTypes: Record<string, string[]> = { POST: ['application/json'], PATCH: patchTypes };

/** Larger bodies are parsed one at a time. */
const longBytes = 16 * 1024;

/** The JSON of a POST or PATCH. */
export async function readBody(
  request: Request,
  response: Response,
  { scheduler }: Pick<Shares, 'scheduler'>,
): Promise<unknown> {
  requireJson(request);
  const bytes = await bytesOf(request);
  if (bytes.length === 0) throw malformed('empty');
  if (bytes.length > longBytes)
    await scheduler.nextTurn(response.locals.key?.organization.id ?? networkOf(request.ip ?? ''));
  return parseJson(textOf(bytes));
}

function requireJson(request: Request): void {
  if (!hasBody(request)) throw malformed('missing');
  const { headers, method } = request;
  const accepted = mediaTypes[method] ?? [];
  const [type = '', ...parameters] = (headers['content-type'] ?? '')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const charset = parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice(8)
    .replaceAll('"', '');
  if (!accepted.includes(type) || (charset !== undefined && !['utf-8', 'utf8'].includes(charset))) {
    throw new Problem('unsupported_media_type', { accepted });
  }
  if (isEncoded(request)) throw new Problem('unsupported_media_type', { contentEncoding: true });
}

/** For an operation that takes none. Some tools send `{}` with a GET; any other body would be ignored, so it is rejected. */
export async function requireNoBody(request: Request): Promise<void> {
  const isReadable = lengthOf(request) <= longBytes && !isEncoded(request);
  const bytes = isReadable ? await bytesOf(request).catch(() => undefined) : undefined;
  const isEmpty = bytes !== undefined && /^\s*(?:\{\s*\}\s*)?$/.test(bytes.toString('latin1'));
  if (!isEmpty) throw new Problem('malformed_request', { fault: 'unexpected_body' });
}

const lengthOf = ({ headers }: Request): number => Number(headers['content-length'] ?? 0);

/**
 * Not express.raw, which reports that a body is too large only when the client has sent all of it. If its length says so,
 * no byte of it is read. Collected in a string: a list of pieces takes 100 MB if each is one byte.
 */
async function bytesOf(request: Request): Promise<Buffer> {
  const length = request.headers['content-length'] ?? null;
  return Buffer.from(await getRawBody(request, { limit: maximumBodyBytes, length, encoding: 'binary' }), 'binary');
}

const malformed = (fault: 'missing' | 'empty' | 'not_utf8') => new Problem('malformed_json', { fault });

export const hasBody = (request: Request): boolean =>
  request.headers['transfer-encoding'] !== undefined || lengthOf(request) > 0;

const isEncoded = ({ headers }: Request): boolean =>
  (headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity';

function textOf(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw malformed('not_utf8');
  }
}
