/** The body of a write. Media type, size and JSON are checked in turn, each rejected with its own problem. */
import express from 'express';
import type { Request, Response } from 'express';
import { maximumBodyBytes } from '../../contract/limits.ts';
import type { Shares } from '../limits/concurrency.ts';
import { networkOf } from '../limits/network.ts';
import { Problem } from '../problems/problem.ts';
import { parseJson } from '../text/json.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

const readBytes = express.raw({ type: () => true, limit: maximumBodyBytes, inflate: false });
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
  const bytes = await bytesOf(request, response);
  if (!(bytes instanceof Uint8Array) || bytes.length === 0) throw malformed('empty');
  if (bytes.length > longBytes)
    await scheduler.nextTurn(response.locals.key?.organization.id ?? networkOf(request.ip ?? ''));
  return parseJson(textOf(bytes));
}

function requireJson(request: Request): void {
  if (!hasBody(request)) throw malformed('missing');
  requireMediaType(request, mediaTypes[request.method] ?? []);
  // Otherwise, the bytes would be read before they are rejected.
  if (lengthOf(request) > maximumBodyBytes) throw new Problem('payload_too_large');
}

/** Some tools send `{}` with a GET. Any other body would be silently ignored, so it is rejected. */
export async function requireNoBody(request: Request, response: Response): Promise<void> {
  const isReadable = lengthOf(request) <= longBytes;
  const bytes = isReadable ? await bytesOf(request, response).catch(ignoreFailure) : undefined;
  const isEmpty = bytes instanceof Uint8Array && /^\s*(?:\{\s*\}\s*)?$/.test(Buffer.from(bytes).toString('latin1'));
  if (!isEmpty) throw new Problem('malformed_request', { fault: 'body_of_get' });
}

const ignoreFailure = () => undefined;

const lengthOf = ({ headers }: Request): number => Number(headers['content-length'] ?? 0);

const bytesOf = (request: Request, response: Response): Promise<unknown> =>
  new Promise((resolve, reject) => {
    readBytes(request, response, (error?: unknown) => (error === undefined ? resolve(request.body) : reject(error)));
  });

const malformed = (fault: 'missing' | 'empty' | 'not_utf8') => new Problem('malformed_json', { fault });

export const hasBody = (request: Request): boolean =>
  request.headers['transfer-encoding'] !== undefined || lengthOf(request) > 0;

function requireMediaType({ headers }: Request, accepted: string[]): void {
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
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new Problem('unsupported_media_type', { contentEncoding: true });
  }
}

function textOf(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw malformed('not_utf8');
  }
}
